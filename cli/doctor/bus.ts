import pino from "pino";
import type { Settings } from "#infra/config.ts";
import { joinUrl } from "#infra/joinUrl.ts";
import type { Bus } from "#infra/nats/connect.ts";
import { namesFor } from "#infra/nats/names.ts";
import { IS_ALIVE } from "#infra/postgres/heartbeat.ts";
import type { Db } from "#projections/projection.ts";
import { displayHost, openBus } from "../connect.ts";
import { CliError } from "../cliError.ts";
import { explainError } from "../explainError.ts";

const MIN_VERSION = { major: 2, minor: 9 };

/** A bus that collects fields of streams and consumers which the server ignores. */
export async function openWatchedBus(settings: Settings) {
  const ignored: string[] = [];
  const collect = (line: string): void => {
    const entry = JSON.parse(line) as { name?: string; ignored?: string[] };
    if (entry.ignored) ignored.push(`${entry.name}: ${entry.ignored.join(", ")}`);
  };
  const bus = await openBus(settings, pino({ level: "warn" }, { write: collect }));
  return { bus, ignored, prefix: settings.BUS_PREFIX };
}

export type WatchedBus = Awaited<ReturnType<typeof openWatchedBus>>;

export async function checkNats(bus: Bus): Promise<string> {
  const version = (await bus.health()).server_version ?? "unknown";
  const [major, minor] = version.split(".").map(Number) as [number, number];
  if (major > MIN_VERSION.major || (major === MIN_VERSION.major && minor >= MIN_VERSION.minor)) return version;
  throw new CliError(
    `this is nats-server ${version}`,
    `run nats-server ${MIN_VERSION.major}.${MIN_VERSION.minor} or newer, best 2.14.5 or newer`,
  );
}

export async function checkStreams({ bus, ignored }: WatchedBus): Promise<string> {
  if (ignored.length > 0)
    throw new CliError(
      `the server ignores fields of streams: ${ignored.join("; ")}`,
      "run nats-server 2.14.5 or newer",
    );
  const { streams } = await bus.health();
  const unreadable = Object.keys(streams).filter((name) => !streams[name]);
  if (unreadable.length > 0)
    throw new CliError(`${unreadable.join(", ")} cannot be read`, "check that JetStream is on (nats-server -js)");
  return Object.entries(streams)
    .map(([name, size]) => `${name} ${size!.messages}`)
    .join(", ");
}

export async function checkDeadLetters({ bus, prefix }: WatchedBus): Promise<string> {
  const letters = (await bus.health()).streams[namesFor(prefix).streams.dead]?.messages ?? 0;
  if (letters === 0) return "none";
  throw new CliError(`${letters}`, "svc dead list shows them, svc dead replay SEQ retries one");
}

const SYNC_NEXT = "set `sync_interval: always` in the jetstream block of every nats-server's configuration";

/** Whether NATS writes each message to disk before it confirms it. Only the server's monitoring address shows that. */
export async function checkSync(bus: Bus, monitor: string | undefined): Promise<string> {
  const version = (await bus.health()).server_version ?? "unknown";
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major < 2 || (major === 2 && minor < 10))
    return `every two minutes: ${version} knows no other; what a power cut takes is delivered again`;
  if (!monitor) return "not known: set NATS_MONITOR_URL to read it from the server";
  const next = "correct NATS_MONITOR_URL, or leave it out";
  const url = joinUrl(monitor, "/jsz?config=true");
  const response = await fetch(url, { signal: AbortSignal.timeout(3_000) }).catch((error: Error) => {
    const what = `nothing answers at ${displayHost(monitor)} (${explainError(error.cause ?? error)})`;
    throw new CliError(what, next, { cause: error });
  });
  if (!response.ok) throw new CliError(`${displayHost(monitor)} answers ${response.status}`, next);
  const { config = {} } = (await response.json()) as { config?: { sync_always?: boolean } };
  if (config.sync_always === true) return "always";
  throw new CliError("a power cut takes the messages of up to two minutes", SYNC_NEXT);
}

const OTHERS =
  "select worker, bus from ops.workers where bus is not null and bus_at > clock_timestamp() - interval '15 seconds' order by worker";

/** Whether the running processes use the configured NATS. */
export async function checkSameBus(bus: Bus, db: Db): Promise<string> {
  const mine = await bus.identity();
  if (!mine) throw new CliError("NATS does not answer for its streams", "run svc doctor again");
  const running = await db.query<{ worker: string; bus: string }>(OTHERS);
  const others = running.filter((one) => one.bus !== mine).map(({ worker }) => worker);
  if (others.length === 0) return `all ${running.length} running processes`;
  throw new CliError(
    `${others.join(", ")} use another NATS`,
    "give every process the same NATS_URL, BUS_PREFIX and user, and start them again",
  );
}

const RUNNING = `select count(*)::integer as running from ops.workers w where ${IS_ALIVE}`;

/** Sends a command without effect, which a services process must take. While no process runs, there is nothing to check. */
export async function checkCommands(bus: Pick<Bus, "checkDelivery">, db: Db): Promise<string> {
  const [row] = await db.query<{ running: number }>(RUNNING);
  if (row!.running === 0) return "not checked: no process of the service runs";
  const began = performance.now();
  try {
    await bus.checkDelivery();
  } catch (error) {
    throw new CliError(
      explainError(error).replace(/\.$/, ""),
      "start a services process, or read the log of those that run: they say why they take no work",
    );
  }
  return `one was taken after ${Math.round(performance.now() - began)} ms`;
}
