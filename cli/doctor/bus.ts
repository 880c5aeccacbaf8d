import pino from "pino";
import type { Settings } from "#infra/config.ts";
import type { Bus } from "#infra/nats/connect.ts";
import { namesFor } from "#infra/nats/names.ts";
import { openBus } from "../connect.ts";
import { Problem } from "../problem.ts";

const LEAST = { major: 2, minor: 9 };

/** A connection that keeps what the server ignores of the streams asked for. */
export async function openWatchedBus(settings: Settings) {
  const ignored: string[] = [];
  const note = (line: string): void => {
    const entry = JSON.parse(line) as { name?: string; ignored?: string[] };
    if (entry.ignored) ignored.push(`${entry.name}: ${entry.ignored.join(", ")}`);
  };
  const bus = await openBus(settings, pino({ level: "warn" }, { write: note }));
  return { bus, ignored, prefix: settings.BUS_PREFIX };
}

export type WatchedBus = Awaited<ReturnType<typeof openWatchedBus>>;

export async function busVersion(bus: Bus): Promise<string> {
  const version = (await bus.health()).server_version ?? "unknown";
  const [major, minor] = version.split(".").map(Number) as [number, number];
  if (major > LEAST.major || (major === LEAST.major && minor >= LEAST.minor)) return version;
  throw new Problem(
    `this is nats-server ${version}`,
    `run nats-server ${LEAST.major}.${LEAST.minor} or newer, best 2.12.7 or newer`,
  );
}

export async function streamsAsAsked({ bus, ignored }: WatchedBus): Promise<string> {
  if (ignored.length > 0)
    throw new Problem(
      `the server ignores a part of what was asked: ${ignored.join("; ")}`,
      "run nats-server 2.12.7 or newer",
    );
  const { streams } = await bus.health();
  const unread = Object.keys(streams).filter((name) => !streams[name]);
  if (unread.length > 0)
    throw new Problem(`${unread.join(", ")} cannot be read`, "see that JetStream is on (nats-server -js)");
  return Object.entries(streams)
    .map(([name, size]) => `${name} ${size!.messages}`)
    .join(", ");
}

export async function noDeadLetters({ bus, prefix }: WatchedBus): Promise<string> {
  const letters = (await bus.health()).streams[namesFor(prefix).streams.dead]?.messages ?? 0;
  if (letters === 0) return "none";
  throw new Problem(`${letters}`, "svc dead list shows them, svc dead replay SEQ sends one again");
}
