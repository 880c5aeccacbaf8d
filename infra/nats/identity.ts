import type { BusContext } from "./context.ts";

/**
 * Identifies the JetStream behind this connection by the creation time of its stream of commands. Outside a cluster the server's id
 * is added, because a copy of its folder has the same streams. Undefined while the bus does not answer.
 */
export async function readIdentity({ connection, streams, names }: BusContext): Promise<string | undefined> {
  if (!connection.isConnected()) return undefined;
  const epoch = connection.epoch();
  const stream = await connection.during(streams.jsm.streams.info(names.streams.commands)).catch(() => undefined);
  const { info } = connection.nc;
  if (!stream || !info || connection.epoch() !== epoch) return undefined;
  const isAlone = info.jetstream === true && !info.cluster;
  return [names.streams.commands, stream.created, ...(isAlone ? [info.server_id] : [])].join(" ");
}
