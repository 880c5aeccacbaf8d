import type { BusContext } from "./context.ts";

export interface BusHealth {
  connected: boolean;
  server_version: string | undefined;
  /** By stream name; undefined if the stream could not be read or has no leader. */
  streams: Record<string, { messages: number; bytes: number } | undefined>;
}

export async function readHealth({ connection, streams: { jsm }, names }: BusContext): Promise<BusHealth> {
  const connected = connection.isConnected();
  const readSize = async (stream: string) => {
    const info = connected ? await connection.during(jsm.streams.info(stream)).catch(() => undefined) : undefined;
    if (!info || (info.cluster && !info.cluster.leader)) return [stream, undefined] as const;
    return [stream, { messages: info.state.messages, bytes: info.state.bytes }] as const;
  };
  const sizes = await Promise.all(Object.values(names.streams).map(readSize));
  return { connected, server_version: connection.nc.info?.version, streams: Object.fromEntries(sizes) };
}
