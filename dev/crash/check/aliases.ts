import type { RecordedEvent } from "#events/envelope.ts";
import type { Usage } from "#events/thread.ts";
import { grouped, type Evidence } from "./evidence.ts";
import { different, type Finding } from "./finding.ts";

const ENDS = new Set(["TurnCompleted", "TurnFailed", "TurnStopped"]);
/** Reasons of failures that do not count as requests to a target. */
const NOT_ASKED = new Set(["circuit_open", "no_credential", "worker_lost"]);

const tokensOf = (parts: { usage: Usage }[]): number =>
  parts.reduce((sum, { usage }) => sum + usage.prompt_tokens + usage.completion_tokens, 0);

/** What the end of a turn says of the targets of its alias. */
function checkEnd(about: string, targets: string[], { type, data }: RecordedEvent<any>): Finding[] {
  const { usage, usage_by_model: parts = [], model } = data;
  const [whole, summed] = [tokensOf([data]), tokensOf(parts)];
  const others = parts.map((part: { model: string }) => part.model).filter((one: string) => !targets.includes(one));
  return [
    ...(type === "TurnCompleted" && !targets.includes(model)
      ? [different("I25", about, `was answered by ${model}, its alias names ${targets.join(", ")}`)]
      : []),
    ...(others.length > 0 ? [different("I25", about, `has usage of ${others.join(", ")}`)] : []),
    ...(usage && whole !== summed ? [different("I25", about, `used ${whole} tokens, its targets ${summed}`)] : []),
  ];
}

/** I25: a turn of an alias keeps to the alias's targets and number of failures, in all its attempts together. */
export function checkAliases({ events }: Pick<Evidence, "events">): Finding[] {
  const all = events as RecordedEvent<any>[];
  const byTurn = grouped(all, ({ data }) => data.turn_id);
  return all
    .filter(({ type, data }) => type === "TurnStarted" && data.route)
    .flatMap(({ data: { turn_id, route } }) => {
      const own = byTurn.get(turn_id)!;
      const failed = own.filter(({ type, data }) => type === "TargetFailed" && !NOT_ASKED.has(data.reason));
      const about = `turn ${turn_id}`;
      return [
        ...(failed.length > route.max_attempts
          ? [different("I25", about, `${failed.length} requests failed, its alias allows ${route.max_attempts}`)]
          : []),
        ...own.filter(({ type }) => ENDS.has(type)).flatMap((end) => checkEnd(about, route.targets, end)),
      ];
    });
}
