/** How a child ended. */
export type SettledChildResult<R> =
  | { status: 'succeeded'; taskId: string; type: string; result: R }
  | { status: 'failed'; taskId: string; type: string; error: { name: string; message: string } }
  | { status: 'cancelled'; taskId: string; type: string }
