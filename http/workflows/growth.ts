import type { HttpDeps } from "../deps.ts";
import { createWatch, type Watch } from "./watch.ts";

/** Waits until a stream is longer than `version`. */
export type Growth = Watch<{ stream: string; version: number }>;

export const watchGrowth = ({ db, onCommitted }: Pick<HttpDeps, "db" | "onCommitted">): Growth =>
  createWatch(onCommitted, async (waiting) => {
    const rows = await db.query<{ stream: string; version: number }>(
      "select stream, version from log.streams where stream = any ($1)",
      [[...new Set(waiting.map(({ stream }) => stream))]],
    );
    const versions = new Map(rows.map(({ stream, version }) => [stream, Number(version)]));
    for (const one of waiting) if ((versions.get(one.stream) ?? 0) > one.version) one.done();
  });
