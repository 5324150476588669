import js from '@eslint/js'
import rxjsX from 'eslint-plugin-rxjs-x'
import tseslint from 'typescript-eslint'

export default tseslint.config(
  { ignores: ['**/dist/**', '**/coverage/**', '**/node_modules/**', '.snippets/**', 'docs/api/**'] },
  js.configs.recommended,
  ...tseslint.configs.recommendedTypeChecked,
  { files: ['**/*.ts'], ...rxjsX.configs.strict },
  {
    files: ['**/*.ts'],
    languageOptions: {
      parserOptions: {
        project: ['tsconfig.json', 'tsconfig.test.json', 'packages/*/tsconfig.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      // Functions never carry a `$`, however they are held: only what is an Observable does.
      'rxjs-x/finnish': [
        'error',
        {
          functions: false,
          methods: false,
          strict: true,
          types: { '^(ClaimSource|OperatorFunction|MonoTypeOperatorFunction)$': false },
          names: {
            // Operations of the port and whatever is asked for an Observable.
            '^(read|sweep|listen|promote|settle|extend|handBack|enqueue|knownLanes|retire|lease|renew)$': false,
            '^(source|work|shape|cold|hot)$': false,
            // May return an Observable, or anything else.
            '^handler$': false,
          },
        },
      ],
      // Contradicts the house's own order: the operator goes last only where it ends what it follows.
      'rxjs-x/no-unsafe-takeuntil': ['error', { allow: ['ignoreElements'] }],
      'rxjs-x/no-internal': 'error',
      'no-restricted-imports': ['error', { patterns: ['rxjs/internal/*', 'rxjs/operators'] }],
    },
  },
  {
    // In a test an error that nobody handles surfaces as uncaught, which fails the test: just what is wanted.
    files: ['test/**/*.ts', 'packages/*/test/**/*.ts'],
    rules: {
      'rxjs-x/no-ignored-error': 'off',
      'no-restricted-properties': [
        'error',
        {
          object: 'fc',
          property: 'asyncProperty',
          message: 'Use assertProperty, which tells seed and step before the test times out.',
        },
      ],
    },
  },
  { files: ['test/support/assertProperty.ts'], rules: { 'no-restricted-properties': 'off' } },
  { files: ['**/*.js', '**/*.mjs'], ...tseslint.configs.disableTypeChecked },
)
