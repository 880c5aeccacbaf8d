import type { JetStreamManager } from "@nats-io/jetstream";
import type { Connection } from "./connection.ts";
import { createFaultReports } from "./faultReports.ts";
import type { Names } from "./names.ts";

const CHECK_MS = 1_000;
/** Failed checks before the connection moves to another server. An election is often over sooner, and moving loses what is in flight. */
const MAX_MISSED = 5;
/** Failed checks before it moves again: if no server has a majority, none is better than another. */
const MISSED_AGAIN = 10;

/**
 * Moves the connection to another server of the cluster if this one cannot reach the leader of the stream of commands, because the
 * network has cut it off from the others. `stop` ends the search.
 */
export function searchLeader(connection: Connection, jsm: JetStreamManager, names: Names): { stop(): void } {
  const { nc, log } = connection;
  const { report } = createFaultReports(connection, names);
  let [missed, allowed, isAsking, hasMoved] = [0, MAX_MISSED, false, false];

  const ask = async (): Promise<void> => {
    isAsking = true;
    const info = await connection.during(jsm.streams.info(names.streams.commands)).catch(() => undefined);
    isAsking = false;
    if (!info?.cluster?.leader) return;
    if (hasMoved) report("bus_server_cut_off");
    [missed, allowed, hasMoved] = [0, MAX_MISSED, false];
  };

  const check = (): void => {
    if (!connection.isConnected() || !nc.info?.cluster) return void (missed = 0);
    missed += 1;
    if (!isAsking) void ask();
    if (missed <= allowed) return;
    log.warn(
      { server: nc.getServer() },
      "bus: this server reaches no leader of the command stream, moving to another one",
    );
    [missed, allowed, hasMoved] = [0, MISSED_AGAIN, true];
    void nc.reconnect();
  };

  const timer = setInterval(check, CHECK_MS).unref();
  return { stop: () => clearInterval(timer) };
}
