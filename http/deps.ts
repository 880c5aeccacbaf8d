import type { FastifyBaseLogger, FastifyRequest } from "fastify";
import type { Registry } from "prom-client";
import type { AuditLog, Blobs, CommandSender, EventLog, Frames, Hints, Keyring } from "#events/ports.ts";
import type { KeyInUse } from "#projections/keys/query.ts";
import type { SearchEngine } from "#projections/passages/engine.ts";
import type { Passed } from "#projections/passed.ts";
import type { Db } from "#projections/projection.ts";
import type { Catalog } from "./catalog.ts";
import type { Checks, Metrics } from "./face/metrics.ts";
import type { Providers } from "./providers.ts";
import type { ScriptChecker } from "./scripts.ts";
import type { FreshRead, Send } from "./send.ts";

/** What this room needs of the others; main.ts hands it over. */
export interface HttpDeps {
  settings: {
    /** The service's short name: `sk-<name>-…` keys, `sess-<name>-…` sessions. */
    SERVICE_NAME: string;
    /** Public address, without a slash at the end. */
    BASE_URL: string;
    /** How long a buffered turn may take. */
    TURN_SECONDS: number;
    /** Proxies whose `x-forwarded-for` is believed: addresses and networks. */
    TRUST_PROXY: string[];
    /** Where the deployment searches the web, if it does. */
    WEB_SEARCH_URL?: string | undefined;
    /** Whether organizations may use tools of their own. */
    SCRIPTED_TOOLS: boolean;
    /** Begins the subjects that other services hear. */
    BUS_PREFIX: string;
  };
  db: Db;
  /** The key with this SHA-256, read fresh; look-ups of the same moment share one query. */
  keyByHash(hash: string): Promise<KeyInUse | undefined>;
  sender: CommandSender;
  frames: Frames;
  keyring: Keyring;
  blobs: Blobs;
  engine: SearchEngine;
  catalog: Catalog;
  scripts: ScriptChecker;
  passed: Passed;
  /** A stream's events from a version on, for what is read from the log itself. Whose the stream is has to be known before. */
  history: EventLog["read"];
  /** An organization's slice of the log. */
  slice: AuditLog["slice"];
  /** Tells of events as they are committed; it may miss some. */
  onCommitted: Hints["onCommitted"];
  /** Told when a read model may show more. */
  onProjected: Hints["onProjected"];
  /** Resolves once the read models stand where they stood before the database crashed. Throws Unavailable. */
  regained(): Promise<void>;
  /** Every dependency and follower by name, with its lag where it has one. */
  health(): Promise<Checks>;
  logger: FastifyBaseLogger;
  registry: Registry;
  /** Id of this process among `ops.workers`. */
  httpId: string;
}

/** What routes work with. */
export interface Http extends HttpDeps {
  send: Send;
  freshRead: FreshRead;
  providers: Providers;
  metrics: Metrics;
  /** A request's body is not needed any longer. */
  letGo(request: FastifyRequest): void;
  /** Aborted when answers under way must come to an end, because the process ends. */
  closing: AbortSignal;
  /** Notes that a key or session was used just now. */
  used(id: string): void;
}
