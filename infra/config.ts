import { availableParallelism } from "node:os";
import ipaddr from "ipaddr.js";
import { z } from "zod";
import { REGION } from "#events/route.ts";

const isUrl = (text: string, protocols: string[]) => URL.canParse(text) && protocols.includes(new URL(text).protocol);
const url = (protocols: string[], example: string) =>
  z.string().refine((text) => isUrl(text, protocols), `must be a URL such as ${example}`);
const http = (example: string) => url(["http:", "https:"], example);
const count = (from: number, to: number) =>
  z.coerce.number(between(from, to)).int(between(from, to)).min(from, between(from, to)).max(to, between(from, to));
const between = (from: number, to: number) => `must be a whole number from ${from} to ${to}`;
const list = () =>
  z
    .string()
    .default("")
    .transform((text) =>
      text
        .split(",")
        .map((one) => one.trim())
        .filter(Boolean),
    );
const isNetwork = (text: string): boolean => ipaddr.isValid(text) || ipaddr.isValidCIDR(text);
const ORIGINS = "must be origins such as https://app.example.com, separated by commas, or * alone";
/** An origin as browsers send it: lower case, without a path and without the scheme's default port. Origins of apps have other schemes. */
const isOrigin = (text: string): boolean =>
  /^[a-z][a-z0-9+.-]*:\/\/([a-z0-9._-]+|\[[0-9a-f:]+\])(:\d+)?$/.test(text) &&
  URL.canParse(text) &&
  (!/^https?:/.test(text) || new URL(text).origin === text);
const isOriginList = (all: string[]): boolean => all.every(isOrigin) || (all.length === 1 && all[0] === "*");
const levels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
const samplers = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;
/** `name=value` pairs, separated by commas. OpenTelemetry's library silently ignores malformed ones. */
const pairs = (name: RegExp, value: RegExp, example: string) =>
  z
    .string()
    .refine((text) => text.split(",").every((pair) => isPair(pair.trim(), name, value)), `must be ${example}`)
    .optional();
const isPair = (pair: string, name: RegExp, value: RegExp): boolean => {
  const at = pair.indexOf("=");
  return pair === "" || (at > 0 && name.test(pair.slice(0, at).trim()) && value.test(decoded(pair.slice(at + 1))));
};
const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text.trim());
  } catch {
    return "";
  }
};
const headers = () =>
  pairs(
    /^[!#$%&'*+.^_`|~\w-]+$/,
    /^[\t\x20-\x7e]+$/,
    "headers such as name=value, separated by commas, percent-encoded",
  );
const share = "must be a number from 0 to 1";
const PERCENTS = "must be three numbers from 0 to 100 separated by commas, none above the one before, such as 5,3,1";
/** Three percentages, in descending order. */
const percents = () =>
  z
    .string()
    .refine((text) => /^\d+(\.\d+)?( *, *\d+(\.\d+)?){2}$/.test(text.trim()), PERCENTS)
    .transform((text) => text.split(",").map(Number))
    .refine((all) => all[0]! <= 100 && all.every((one, n) => n === 0 || one <= all[n - 1]!), PERCENTS);
const isKey = (text: string) => /^[A-Za-z0-9+/]{43}=$/.test(text);

/** The NATS library uses the login of the first address for all of them. */
const hasOneLogin = (text: string): boolean => {
  const [first, ...others] = text.split(",").flatMap((each) => URL.parse(each.trim()) ?? []);
  const same = ({ username, password }: URL) => username === first?.username && password === first.password;
  return others.every((one) => same(one) || (one.username === "" && one.password === ""));
};

/** The NATS library gets user and password without their percent-encoding. */
const hasEncodedLogin = (text: string): boolean =>
  text
    .split(",")
    .flatMap((each) => URL.parse(each.trim()) ?? [])
    .every(({ username, password }) => [username, password].every((part) => part === "" || decoded(part) !== ""));

const REPLICAS = "must be 1, 3 or 5";
const KEY_FORMAT = "32 random bytes in base64, such as `openssl rand -base64 32` prints";
// Makes zod run checks across settings even if some settings are invalid.
const always = { when: () => true };

const schema = z
  .object({
    NODE_ENV: z.string().default("development"),
    PORT: count(0, 65_535).default(8080),
    HOST: z.string().default("127.0.0.1"),
    METRICS_PORT: count(0, 65_535).optional(),
    DATA_DIR: z.string().default(".data"),
    BASE_URL: http("https://api.example.com").optional(),
    SERVICE_NAME: z
      .string()
      .regex(/^[a-z][a-z0-9]{0,15}$/, "must be 1 to 16 lower-case letters or digits and start with a letter")
      .default("svc"),
    BUS_PREFIX: z
      .string()
      .regex(/^[A-Za-z0-9_]{1,32}$/, "must be 1 to 32 letters, digits or underscores")
      .default("svc"),
    DATABASE_URL: url(["postgres:", "postgresql:"], "postgres://user:password@host:5432/database").optional(),
    NATS_URL: z
      .string()
      .refine(
        (text) => text.split(",").every((each) => isUrl(each.trim(), ["nats:", "tls:"])),
        "must be a URL such as nats://user:password@host:4222, or several separated by commas",
      )
      .refine(hasEncodedLogin, "must have user and password percent-encoded, such as %25 for a percent sign")
      .refine(hasOneLogin, "must have user and password in its first address: they apply to all addresses")
      .optional(),
    NATS_REPLICAS: z.coerce
      .number(REPLICAS)
      .refine((count) => [1, 3, 5].includes(count), REPLICAS)
      .optional(),
    NATS_MONITOR_URL: http("http://host:8222").optional(),
    MEILI_URL: http("http://host:7700").optional(),
    MEILI_MASTER_KEY: z.string().optional(),
    MEILI_API_KEY: z.string().optional(),
    MASTER_KEY: z.string().refine(isKey, `must be ${KEY_FORMAT}`).optional(),
    OPENAI_API_KEY: z.string().optional(),
    OPENAI_BASE_URL: http("https://api.openai.com/v1").optional(),
    ANTHROPIC_API_KEY: z.string().optional(),
    ANTHROPIC_BASE_URL: http("https://api.anthropic.com").optional(),
    GEMINI_API_KEY: z.string().optional(),
    GEMINI_BASE_URL: http("https://generativelanguage.googleapis.com").optional(),
    PRIVATE_PROVIDER_HOSTS: list(),
    PRIVATE_FETCH_HOSTS: list(),
    WEB_SEARCH_URL: http("https://api.search.brave.com/res/v1/web/search").optional(),
    WEB_SEARCH_API_KEY: z.string().optional(),
    SCRIPTED_TOOLS: z.enum(["on", "off"], "must be on or off").default("on"),
    TRUST_PROXY: list().refine(
      (proxies) => proxies.every(isNetwork),
      "must be addresses or networks such as 10.0.0.0/8, separated by commas",
    ),
    CORS_ORIGINS: list().refine(isOriginList, ORIGINS),
    OFFLINE_MODELS: z.enum(["on", "off"], "must be on or off").optional(),
    SEED: z.enum(["on", "off"], "must be on or off").default("on"),
    LOG_LEVEL: z.enum(levels, `must be one of ${levels.join(", ")}`).default("info"),
    OTEL_SDK_DISABLED: z
      .string()
      .toLowerCase()
      .pipe(z.enum(["true", "false"], "must be true or false"))
      .optional(),
    OTEL_TRACES_EXPORTER: z.enum(["otlp", "none"], "must be otlp or none").default("otlp"),
    OTEL_EXPORTER_OTLP_ENDPOINT: http("http://localhost:4318")
      .refine((text) => !/[?#]/.test(text), "must have no query (OTEL_EXPORTER_OTLP_TRACES_ENDPOINT may)")
      .optional(),
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: http("http://localhost:4318/v1/traces").optional(),
    OTEL_EXPORTER_OTLP_HEADERS: headers(),
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: headers(),
    OTEL_RESOURCE_ATTRIBUTES: pairs(/./, /./, "attributes such as name=value, separated by commas, percent-encoded"),
    OTEL_SERVICE_NAME: z.string().default("assistant-platform"),
    OTEL_TRACES_SAMPLER: z.enum(samplers, `must be one of ${samplers.join(", ")}`).default("parentbased_always_on"),
    OTEL_TRACES_SAMPLER_ARG: z.coerce.number(share).min(0, share).max(1, share).default(1),
    REGION: z.string().regex(REGION, "must be 1 to 32 lower-case letters, digits or hyphens").optional(),
    TURN_SECONDS: count(1, 3_600).default(600),
    TOOL_APPROVAL_HOURS: count(1, 168).default(72),
    ORGANIZATION_PARKED_TURNS: count(0, 1_000_000).default(1_000),
    SCRUB_DAYS: count(0, 365).default(7),
    CLOCK_OFFSET_SECONDS: count(1, 100_000_000).default(1),
    HISTORY_KILOBYTES: count(1, 64_000).default(4_000),
    RUN_MEMORY_MEGABYTES: count(1, 1_000_000).default(512),
    FREE_DISK_PERCENT: percents().default([5, 3, 1]),
    THREAD_MEGABYTES: count(1, 10_000).default(2_000),
    ORGANIZATION_MEGABYTES: count(1, 100_000_000).default(100_000),
    ORGANIZATION_LOG_MEGABYTES: count(1, 100_000_000).default(50_000),
    ORGANIZATION_SCHEDULES: count(0, 1_000_000).default(1_000),
    SCHEDULE_SECONDS: count(1, 86_400).default(60),
    SOURCE_DELAY_MS: count(0, 60_000).default(1_000),
    READERS: count(1, 32).default(Math.min(availableParallelism(), 4)),
    OCR: z.enum(["on", "off"], "must be on or off").default("on"),
    OCR_LANGUAGES: z
      .string()
      .regex(/^[a-z]{3}(_[a-z]+)?(\+[a-z]{3}(_[a-z]+)?){0,7}$/, "must be up to 8 languages such as eng+deu")
      .default("eng+deu"),
    OCR_READERS: count(1, 32).default(1),
    OCR_PAGES_PER_DAY: count(0, 10_000_000).default(2_000),
  })
  .refine((env) => !env.DATABASE_URL || env.MASTER_KEY, {
    ...always,
    path: ["MASTER_KEY"],
    error: `is required with DATABASE_URL: ${KEY_FORMAT}`,
  })
  .refine((env) => (env.NATS_REPLICAS ?? 1) === 1 || env.NATS_URL, {
    ...always,
    path: ["NATS_REPLICAS"],
    error: "must be 1 without NATS_URL: the embedded server has no cluster",
  })
  .refine((env) => !env.MEILI_URL || env.MEILI_MASTER_KEY || env.MEILI_API_KEY, {
    ...always,
    path: ["MEILI_MASTER_KEY"],
    error: "is required with MEILI_URL, or MEILI_API_KEY is",
  })
  .refine((env) => !env.MEILI_API_KEY || env.MEILI_URL, {
    ...always,
    path: ["MEILI_API_KEY"],
    error: "must be left out without MEILI_URL: the embedded server makes its own keys",
  })
  .transform((env) => ({
    ...env,
    BASE_URL: (env.BASE_URL ?? `http://${env.HOST.includes(":") ? `[${env.HOST}]` : env.HOST}:${env.PORT}`).replace(
      /\/+$/,
      "",
    ),
    SCRIPTED_TOOLS: env.SCRIPTED_TOOLS === "on",
    SEED: env.SEED === "on",
    OCR: env.OCR === "on",
    OCR_LANGUAGES: env.OCR_LANGUAGES.split("+"),
    OFFLINE_MODELS: (env.OFFLINE_MODELS ?? (env.NODE_ENV === "production" ? "off" : "on")) === "on",
  }));

export const settingNames = Object.keys(schema.in.shape);

export type Settings = z.output<typeof schema>;

export class SettingsError extends Error {
  override name = "SettingsError";
}

/**
 * Reads all settings from the environment; an empty variable counts as absent. Throws one SettingsError with a line for
 * each invalid setting, without its value.
 */
export const readSettings = (env: NodeJS.ProcessEnv): Settings => {
  const variables = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value.trim() !== ""),
  );
  const parsed = schema.safeParse(variables, { reportInput: false });
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map((issue) => `  ${issue.path.join(".")} ${issue.message}`);
  throw new SettingsError(`Invalid settings in the environment:\n${lines.join("\n")}`);
};
