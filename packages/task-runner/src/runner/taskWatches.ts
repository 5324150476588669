import { Observable } from 'rxjs'

import type { TaskUpdate } from '../task/taskUpdate.js'
import { TaskWatch, type TaskWatchSource } from './taskWatch.js'

/** The open watches of one runner. */
export class TaskWatches {
  readonly #open = new Set<TaskWatch>()

  constructor(private readonly source: TaskWatchSource) {}

  /** Cold: each subscription is a watch of its own. */
  watch(taskId: string): Observable<TaskUpdate> {
    return new Observable((out) => {
      const watch = new TaskWatch(taskId, this.source, {
        onUpdate: (update) => out.next(update),
        onEnd: () => out.complete(),
        onError: (error) => out.error(error),
      })
      this.#open.add(watch)
      return () => {
        this.#open.delete(watch)
        watch[Symbol.dispose]()
      }
    })
  }

  /** Ends all of them. */
  fail(error: unknown): void {
    for (const watch of [...this.#open]) watch.fail(error)
  }
}
