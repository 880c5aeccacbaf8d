import { setTimeout as sleep } from "node:timers/promises";
import { NO_USAGE } from "#events/thread.ts";
import { ModelError, type Model } from "#services/turns/model.ts";
import type { TurnToRun } from "#services/turns/turnToRun.ts";

/** Behaviours of the model. */
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

/** The nth piece of the model's output in one attempt at a turn; unique. */
export const piece = (turn: Pick<TurnToRun, "turn_id" | "attempt">, n: number) =>
  `${turn.turn_id}/${turn.attempt}/${n};`;

/** A model whose behaviour the message names, and whose words name their attempt. `asked` is shared by all processes. */
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
