import type { RecordedEvent } from "#events/envelope.ts";
import type { Usage } from "#events/thread.ts";
import type { TargetFailure } from "./nextTarget.ts";

/** Whether an event records a failed target of the turn. */
export const isTargetFailure = ({ type, data }: Pick<RecordedEvent, "type" | "data">, turn: string): boolean =>
  type === "TargetFailed" && (data as { turn_id: string }).turn_id === turn;

/** The failures that earlier attempts of a turn recorded. */
export const readFailures = (events: RecordedEvent[], turn: string): TargetFailure[] =>
  events
    .filter((event) => isTargetFailure(event, turn))
    .map(({ data }) => {
      const { round, target, reason, duration_ms, usage } = data as TargetFailure;
      return { round, target, reason, duration_ms, ...(usage && { usage }) };
    });

/** What a request took whose answer nobody has; of a turn whose model is an alias, with the target that gave it. */
export interface ReplacedAnswer {
  usage: Usage;
  model?: string;
}

/** What the failed requests of earlier attempts took. */
export const readReplaced = (failures: TargetFailure[], isRouted: boolean): ReplacedAnswer[] =>
  failures.flatMap(({ target, usage }) => (usage ? [{ usage, ...(isRouted && { model: target }) }] : []));
