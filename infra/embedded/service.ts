/** One embedded server: how it is started on a port, when it is ready and how it is asked to stop. */
export type Service = {
  name: "postgres" | "nats" | "meilisearch";
  command: (port: number) => {
    file: string;
    args: string[];
    env?: Record<string, string>;
    uid?: number;
    gid?: number;
    cwd?: string;
  };
  /** Called before every start, also the restart after a death. */
  prepare?: (port: number) => Promise<void> | void;
  /** Resolves when the server on the port serves; throws or rejects while it does not. */
  probe: (port: number) => Promise<unknown>;
  stopSignal: NodeJS.Signals;
  url: (port: number) => string;
};
