import { setTimeout as sleep } from "node:timers/promises";
import { NO_USAGE } from "#events/thread.ts";
import { ModelError, type Model } from "#services/turns/model.ts";
import type { TurnToRun } from "#services/turns/turnToRun.ts";

/** What the model does when it is asked. */
export const MODEL_BEHAVIOURS = [
  "answers",
  "answers slowly",
  "refuses",
  "refuses at first",
  "fails at first",
  "breaks off",
  "hangs",
] as const;
export type ModelBehaviour = (typeof MODEL_BEHAVIOURS)[number];

/** The nth piece of what the model says in one attempt at a turn: nobody else says that. */
export const piece = (turn: Pick<TurnToRun, "turn_id" | "attempt">, n: number) =>
  `${turn.turn_id}/${turn.attempt}/${n};`;

/** A model that does what the message says, and whose words tell which attempt they are of; `asked` outlives processes. */
export function scriptedModel(turn: TurnToRun, asked: Map<string, number>): Model {
  return {
    async *complete({ messages }, signal) {
      const part = messages.at(-1)!.parts[0]!;
      const behaviour = (part.type === "text" ? part.text : "") as ModelBehaviour;
      const times = asked.get(turn.request_id) ?? 0;
      asked.set(turn.request_id, times + 1);
      await sleep(behaviour === "answers slowly" ? 4_000 : 20, undefined, { signal });
      if (behaviour === "refuses" || (behaviour === "refuses at first" && times === 0))
        throw new ModelError("refused", "No.", { status: 400 });
      if (behaviour === "fails at first" && times === 0) throw new ModelError("transient", "Not now.", { status: 503 });
      for (let n = 0; n < 3; n++) {
        yield { type: "text", text: piece(turn, n) };
        if (behaviour === "breaks off") throw new ModelError("cut", "Gone.");
        await sleep(behaviour === "hangs" ? 600_000 : behaviour === "answers slowly" ? 500 : 10, undefined, { signal });
      }
      yield { type: "finish", finish_reason: "stop", usage: NO_USAGE };
    },
  };
}
