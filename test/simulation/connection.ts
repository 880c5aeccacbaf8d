import type pg from "pg";
import type { Database, Query } from "./database.ts";
import type { World } from "./world.ts";

const NOTICED_MS = 3_000;

/** Answers an append for a process that does not wait for its commit: one of the planted bugs. */
export type AnswerAppend = (query: Query, commit: () => { rows: unknown[] }) => { rows: unknown[] };

/** Makes every append use log.append, because the optimistic one never applies. */
function answerWith(answerAppend: AnswerAppend, asked: Query, commit: () => { rows: unknown[] }) {
  if (asked.name === "append new") return { rows: [] };
  return asked.name === "append" ? answerAppend(asked, commit) : commit();
}

/**
 * A process's pool: statements may arrive late or never, and their answers may be lost.
 * A statement that was sent can arrive after its process has died.
 */
export function openConnection(world: World, database: Database, answerAppend?: AnswerAppend): pg.Pool {
  const { random, rates } = world;
  const query = (asked: Query) =>
    new Promise<{ rows: unknown[] }>((resolve, reject) =>
      world.send(() => {
        const process = world.current();
        const broken = () =>
          world.at(world.now() + random.int(1, NOTICED_MS), process, () => reject(new Error("Connection terminated")));
        if (random.chance(rates.drop)) return void broken();
        const commit = () => database.run(asked);
        world.outside(world.transit(), () => {
          const { rows } = answerAppend ? answerWith(answerAppend, asked, commit) : commit();
          if (random.chance(rates.drop)) return void broken();
          world.at(world.now() + world.transit(), process, () => resolve({ rows }));
        });
      }),
    );
  return { query } as unknown as pg.Pool;
}
