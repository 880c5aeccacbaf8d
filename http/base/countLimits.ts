import { countThings, type CountedKind } from "#projections/countThings.ts";
import type { Http } from "./deps.ts";
import { ApiError } from "./errors.ts";
import { MAX_COLLECTIONS } from "./limits.ts";

/*
 * How many things of a kind an organization may have. The console reads these lists whole, and erasures and the pages about usage
 * consider every key and agent. Deciders count members, groups, aliases and holds.
 */

/** Each may have instructions of 200 kB. */
const MAX_AGENTS = 5_000;
/** Each version has up to 256 KiB of source. */
const MAX_DEFINITIONS = 5_000;
/** Running ones, which may have to wait for the release of a hold. Every sweep for work reads them. */
const MAX_ERASURES = 10_000;
const MAX_KEYS = 10_000;
/** Every turn under a money budget reads all prices. */
const MAX_PRICED_MODELS = 5_000;
const MAX_PROJECTS = 5_000;
/** Listing the models asks all providers. */
const MAX_PROVIDERS = 50;
/** Each has a round of deletions every hour, also after its project was deleted. */
const MAX_RETENTION_RULES = 1_000;
const MAX_SECRETS = 5_000;
const MAX_SOURCES = 200;
/** Disabled ones too. Generous, because a workflow cannot be deleted. */
const MAX_WORKFLOWS = 20_000;
const MAX_ENABLED_WORKFLOWS = 5_000;

interface CountLimit {
  max: number;
  things: string;
  /** What makes room for another one. */
  advice: string;
  /** The field that names a new one. */
  param: string;
}

export const COUNT_LIMITS: Record<CountedKind, CountLimit> = {
  agents: { max: MAX_AGENTS, things: "agents", advice: "delete one first", param: "name" },
  collections: { max: MAX_COLLECTIONS, things: "collections", advice: "delete one first", param: "name" },
  definitions: { max: MAX_DEFINITIONS, things: "definitions", advice: "delete one first", param: "name" },
  erasures: {
    max: MAX_ERASURES,
    things: "running erasures",
    advice: "wait until some are completed, or release the holds that they wait for",
    param: "owner",
  },
  keys: { max: MAX_KEYS, things: "API keys", advice: "delete one first", param: "name" },
  prices: {
    max: MAX_PRICED_MODELS,
    things: "models with prices of its own",
    advice: "remove those of one first",
    param: "model",
  },
  projects: { max: MAX_PROJECTS, things: "projects", advice: "delete one first", param: "name" },
  providers: { max: MAX_PROVIDERS, things: "providers", advice: "remove one first", param: "name" },
  retention_rules: {
    max: MAX_RETENTION_RULES,
    things: "subjects with retention rules",
    advice: "remove those of one first",
    param: "subject",
  },
  secrets: { max: MAX_SECRETS, things: "secrets", advice: "remove one first", param: "name" },
  sources: { max: MAX_SOURCES, things: "sources", advice: "delete one first", param: "url" },
  workflows: {
    max: MAX_WORKFLOWS,
    things: "workflows, with the disabled ones",
    advice: "change and enable a disabled one instead",
    param: "name",
  },
  enabled_workflows: {
    max: MAX_ENABLED_WORKFLOWS,
    things: "enabled workflows",
    advice: "disable one first",
    param: "enabled",
  },
};

const errorCode = (kind: CountedKind) =>
  kind === "enabled_workflows" ? "too_many_workflows" : (`too_many_${kind}` as const);

/**
 * Throws a 409 for a new thing beyond the limit. `findExisting` finds the thing if the request may be a change, which is always
 * allowed, because earlier releases had no limits. Not exact: concurrent requests, and requests while read models lag, may exceed
 * the limit by a few.
 */
export async function checkCount(
  { db }: Pick<Http, "db">,
  organization: string,
  kind: CountedKind,
  findExisting?: () => Promise<object | undefined>,
): Promise<void> {
  const { max, things, advice, param } = COUNT_LIMITS[kind];
  if ((await countThings(db, organization, kind, max)) < max) return;
  if (await findExisting?.()) return;
  const message = `An organization has at most ${max.toLocaleString("en")} ${things}; ${advice}.`;
  throw new ApiError(errorCode(kind), message, { param });
}
