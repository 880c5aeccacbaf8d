import type { ReadingProgress, ReadingReports } from "#events/readingProgress.ts";
import type { Connection } from "./connection.ts";
import type { Names } from "./names.ts";

interface Report extends ReadingProgress {
  stream: string;
}

/** Uses core NATS, like hints: nothing is stored. */
export const createReadingReports = ({ pubSub }: Connection, { hint }: Names): ReadingReports => ({
  publish: (stream, progress) => pubSub.publish(hint.readings, { stream, ...progress } satisfies Report),
  subscribe: (listener) =>
    pubSub.subscribe(hint.readings, ({ stream, pages_read, pages_total }: Report) =>
      listener(stream, { pages_read, pages_total }),
    ),
});
