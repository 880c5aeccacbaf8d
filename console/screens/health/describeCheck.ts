import { formatBytes, formatCount } from "../../format/index.ts";

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

const textOf = (value: unknown = ""): string => (typeof value === "string" ? value : JSON.stringify(value));

/** The streams of the bus with their sizes. */
const describeStreams = (streams: Record<string, unknown>): string =>
  Object.entries(streams)
    .map(([name, size]) => {
      if (!isObject(size)) return `${name}: not readable`;
      return `${name}: ${formatCount(Number(size["messages"]), "message")}, ${formatBytes(Number(size["bytes"]))}`;
    })
    .join("; ");

/** The number of events by which a read model lags. */
export const lagOf = (detail: unknown): number => (isObject(detail) ? Number(detail["lag"] ?? 0) : 0);

/** The details of a check, in words. */
export function describeDetail(name: string, detail: unknown): string {
  if (!isObject(detail)) return textOf(detail);
  if (name.startsWith("disk")) return `${Math.round(Number(detail["free"]) * 100)} % free`;
  if (isObject(detail["streams"]))
    return `${textOf(detail["server_version"])} ${describeStreams(detail["streams"])}`.trim();
  if ("lag" in detail) {
    const parked = Number(detail["parked"] ?? 0);
    return `${formatCount(Number(detail["lag"]), "event")} behind${parked > 0 ? `, ${formatCount(parked, "stream")} left out` : ""}`;
  }
  return textOf(detail);
}

const ADVICE: Record<string, string> = {
  postgres: "Check that PostgreSQL runs and that DATABASE_URL is correct.",
  log: "PostgreSQL takes no writes: make space on its disk, or see that it may be written.",
  nats: "Check that NATS runs with JetStream and that NATS_URL is correct.",
  commands: "Check that a process with the role services runs.",
  meilisearch: "Check that Meilisearch runs and that MEILI_URL is correct. Everything but search works without it.",
  disk: "Free space on the disk of DATA_DIR.",
  clock: "Set the clock of this machine: it differs from the database's.",
};

/** Advice for a failing check. Processes of the role services fill the index of passages and run the relays. */
export const adviceFor = (name: string): string =>
  ADVICE[name] ??
  `Check that a process with the role ${name.startsWith("projection ") ? "projections" : "services"} runs, and read its log.`;
