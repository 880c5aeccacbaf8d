import type { Connection } from "./connection.ts";
import type { Names } from "./names.ts";
import type { Streams } from "./streams.ts";
import type { StreamLimits } from "./streamSpecs.ts";

/** One connection of this process, with the deployment's streams. */
export interface BusContext {
  connection: Connection;
  streams: Streams;
  names: Names;
  limits: StreamLimits;
}
