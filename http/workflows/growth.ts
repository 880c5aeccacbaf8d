import type { HttpDeps } from "../deps.ts";

/** How often the log is looked at while somebody follows a stream; hints only make it faster. */
const POLL_MS = 500;
/** Between two looks: commits come by the hundred, and one look serves all who wait. */
const PAUSE_MS = 10;

interface Waiting {
  stream: string;
  version: number;
  grown(): void;
}

/** Resolves once a stream is longer than `version`, or `signal` is aborted. */
export type Growth = (stream: string, version: number, signal: AbortSignal) => Promise<void>;

/** All who follow streams share one query, however many they are. Without them nothing is asked. */
export function watchGrowth({ db, onCommitted }: Pick<HttpDeps, "db" | "onCommitted">): Growth {
  const waiting = new Set<Waiting>();
  let looking = false;
  let hinted = false;
  let wake: (() => void) | undefined;
  onCommitted(() => {
    hinted = true;
    wake?.();
  });

  async function look(): Promise<void> {
    hinted = false;
    const streams = [...new Set([...waiting].map(({ stream }) => stream))];
    const rows = await db.query<{ stream: string; version: number }>(
      "select stream, version from log.streams where stream = any ($1)",
      [streams],
    );
    const versions = new Map(rows.map(({ stream, version }) => [stream, Number(version)]));
    for (const one of waiting) if ((versions.get(one.stream) ?? 0) > one.version) one.grown();
  }

  const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
  const hintOrPoll = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, POLL_MS);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
      if (hinted) wake();
    });

  async function run(): Promise<void> {
    if (looking) return;
    looking = true;
    while (waiting.size > 0) {
      // a database that cannot be asked now is asked again
      await look().catch(() => {});
      await pause(PAUSE_MS);
      if (waiting.size > 0) await hintOrPoll();
    }
    looking = false;
  }

  return (stream, version, signal) =>
    new Promise<void>((resolve) => {
      const done = () => {
        waiting.delete(one);
        signal.removeEventListener("abort", done);
        resolve();
      };
      const one: Waiting = { stream, version, grown: done };
      if (signal.aborted) return resolve();
      signal.addEventListener("abort", done);
      waiting.add(one);
      hinted = true;
      wake?.();
      void run();
    });
}
