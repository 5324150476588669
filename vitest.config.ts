import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
    globalSetup: ['test/support/globalSetup.ts'],
    // For a busy machine; what hangs is told of by `until` and `assertProperty` before.
    testTimeout: 40_000,
    hookTimeout: 60_000,
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts', 'packages/*/src/**/*.ts'],
      reporter: ['text-summary', 'html'],
    },
  },
})
