import { z } from "zod";

/** Names of aliases. Without a slash, so that no alias is ever taken for a model, which is `provider/model`. */
export const ALIAS_NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;
/** Whether a model's name can only be that of an alias. */
export const isAlias = (model: string): boolean => !model.includes("/");

export const MAX_TARGETS = 8;

/**
 * Failures after which the next target is tried: a status (`429`, `5xx` …), no answer in time, a request too long for the model, or
 * an answer stopped by a filter.
 */
export const CONDITION = /^(?:timeout|connection|context_length|content_filter|5xx|[45]\d\d)$/;
export const DEFAULT_CONDITIONS = ["429", "5xx", "timeout", "connection"];

/** One of the models that an alias stands for. */
export const RouteTarget = z.object({
  /** `provider/model`. */
  model: z.string(),
  /** Its share of first requests; 0: tried only after targets with a share. Absent from all targets: they are tried in order. */
  weight: z.int().optional(),
  /** The region where the model runs: processes of that region try it first. */
  region: z.string().optional(),
});
export type RouteTarget = z.infer<typeof RouteTarget>;

/** When a turn moves on to the next target, and for how long. */
export const RouteRules = z.object({
  /** Failures after which the next target is tried, as in `CONDITION`. */
  on: z.array(z.string()),
  /** Maximum seconds that a target may take to send the first piece of its answer. */
  timeout_seconds: z.int(),
  /** Failed requests allowed in one turn. */
  max_attempts: z.int(),
  /** Seconds that a turn's failed requests may take in total. */
  max_seconds: z.int(),
});
export type RouteRules = z.infer<typeof RouteRules>;

/** The route of one turn: the targets of its alias when it started. */
export const Route = RouteRules.extend({
  /** `provider/model` each, in the order in which this turn tries them. */
  targets: z.array(z.string()),
});
export type Route = z.infer<typeof Route>;

/** Names of regions, such as `eu-west-1`. */
export const REGION = /^[a-z0-9][a-z0-9-]{0,31}$/;

/** Keeps the order within the region and outside of it. Without a region, the order stays as it is. */
function nearestFirst(targets: RouteTarget[], region: string | undefined): RouteTarget[] {
  if (region === undefined) return targets;
  return targets.toSorted((a, b) => Number(b.region === region) - Number(a.region === region));
}

interface Draw {
  /** The region of the process that starts the turn. */
  region?: string | undefined;
  random?: () => number;
}

/**
 * Returns the targets in the order in which one turn tries them: drawn by weight if they have any, then those of the region first.
 * Targets of weight 0 come after all that have a share.
 */
export function drawOrder(targets: RouteTarget[], { region, random = Math.random }: Draw = {}): string[] {
  const left = targets.filter(({ weight }) => weight !== undefined && weight > 0);
  const rest = targets.filter(({ weight = 0 }) => weight === 0);
  const drawn: RouteTarget[] = [];
  while (left.length > 0) {
    let at = random() * left.reduce((sum, { weight = 0 }) => sum + weight, 0);
    const n = left.findIndex(({ weight = 0 }) => (at -= weight) < 0);
    drawn.push(left.splice(Math.max(n, 0), 1)[0]!);
  }
  return [...nearestFirst(drawn, region), ...nearestFirst(rest, region)].map(({ model }) => model);
}

/** The route of a new turn that a process of this region starts. */
export const routeFrom = (
  { targets, ...rules }: RouteRules & { targets: RouteTarget[] },
  region: string | undefined,
): Route => ({
  targets: drawOrder(targets, { region }),
  on: rules.on,
  timeout_seconds: rules.timeout_seconds,
  max_attempts: rules.max_attempts,
  max_seconds: rules.max_seconds,
});
