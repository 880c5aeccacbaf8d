/** The server runs but cannot read its data; waiting does not help. */
export class DataUnreadable extends Error {
  override name = "DataUnreadable";
}

/** The server answers that it is not ready yet, as while it recovers after a crash. If it is killed, it begins again. */
export class StillStarting extends Error {
  override name = "StillStarting";
}

/** How to start one embedded server, detect that it is ready, and stop it. */
export type ServerSpec = {
  name: "postgres" | "nats" | "meilisearch";
  command: (port: number) => {
    file: string;
    args: string[];
    env?: Record<string, string>;
    uid?: number;
    gid?: number;
    cwd?: string;
  };
  /** Called before every start and restart. */
  prepare?: (port: number) => Promise<void> | void;
  /**
   * Resolves when the server on this port is ready. Throws or rejects before that: with StillStarting if the server says that it will
   * be, with DataUnreadable if it never will be.
   */
  probe: (port: number) => Promise<unknown>;
  /** Rejects if a running server does not answer, or reports that it needs a restart. If that persists, the server is killed and restarted. */
  alive?: (port: number, signal: AbortSignal) => Promise<unknown>;
  /** A folder that can be rebuilt from the log. If a start fails because of it, the server starts without it. */
  rebuildable?: string;
  stopSignal: NodeJS.Signals;
  url: (port: number) => string;
};
