import type { AnswerAppend } from "./connection.ts";
import type { Database } from "./database.ts";
import type { PlantedFlaws } from "./run.ts";
import type { World } from "./world.ts";

const COMMIT_MS = 200;

/** Reports an append as committed, and commits it a moment later if the process is still alive. */
const answerBeforeCommit = (world: World, database: Database): AnswerAppend => {
  const process = world.current();
  return (query, commit) => {
    const rows = database.foresee(query.values as string[]);
    world.at(world.now() + COMMIT_MS, process, commit);
    return { rows };
  };
};

/** Bugs in the simulation's own parts, which it must find. */
export const plantedBugs: Record<string, PlantedFlaws> = {
  "an answer before the commit": { answerAppend: answerBeforeCommit },
  "a cursor over positions that are given out before the commit": { commitsLate: true },
  "a result of an older attempt is accepted": {
    ending: (handle, database) => (command) => {
      const row = database.tables.streams.get(command.stream);
      const turn = row && JSON.parse(row.state).turn;
      return handle(turn ? { ...command, data: { ...command.data, attempt: turn.attempt } } : command);
    },
  },
  "no outcome rows": { forgetsOutcomes: true },
};
