import type { RecordedEvent } from "#events/envelope.ts";
import type { Usage } from "#events/thread.ts";
import type { TargetFailure } from "./nextTarget.ts";

/** Whether an event records a failed target of the turn. */
export const isTargetFailure = ({ type, data }: Pick<RecordedEvent, "type" | "data">, turn: string): boolean =>
  type === "TargetFailed" && (data as { turn_id: string }).turn_id === turn;

/** The failures recorded by earlier attempts of a turn. */
export const readFailures = (events: RecordedEvent[], turn: string): TargetFailure[] =>
  events
    .filter((event) => isTargetFailure(event, turn))
    .map(({ data }) => {
      const { round, target, reason, duration_ms, usage } = data as TargetFailure;
      return { round, target, reason, duration_ms, ...(usage && { usage }) };
    });

/** The usage of a request whose answer is not part of the turn. `model`: the target that answered, if the turn's model is an alias. */
export interface ReplacedAnswer {
  usage: Usage;
  model?: string;
}

/** The usage of failed requests of earlier attempts. */
export const readReplacedAnswers = (failures: TargetFailure[], isRouted: boolean): ReplacedAnswer[] =>
  failures.flatMap(({ target, usage }) => (usage ? [{ usage, ...(isRouted && { model: target }) }] : []));
