/** The server runs and cannot read what it kept: waiting does not help. */
export class DataUnreadable extends Error {
  override name = "DataUnreadable";
}

/** One embedded server: how to start it on a port, how to know that it is ready, and how to stop it. */
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
  /** Resolves when the server on this port is ready; throws or rejects while it is not, with DataUnreadable if it never will be. */
  probe: (port: number) => Promise<unknown>;
  /** Rejects when a running server does not answer, or says that it needs a restart. A server that goes on so is killed and started again. */
  alive?: (port: number, signal: AbortSignal) => Promise<unknown>;
  /** Folder whose content can be rebuilt from the log. When a start fails because of it, the server starts without it. */
  rebuildable?: string;
  stopSignal: NodeJS.Signals;
  url: (port: number) => string;
};
