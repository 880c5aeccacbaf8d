import type { JetStreamManager } from "@nats-io/jetstream";
import { pino } from "pino";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Connection } from "./connection.ts";
import { searchLeader } from "./leaderSearch.ts";
import { namesFor } from "./names.ts";

const names = namesFor("searched");

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A connection to a server whose stream of commands may have a leader or not, or that does not answer. */
function openServer({ isCluster = true } = {}) {
  const server = { sees: "leader" as "leader" | "nobody" | "silence", connected: true };
  let moves = 0;
  const reports: unknown[] = [];
  const info = async () => {
    if (server.sees === "silence") return new Promise<never>(() => {});
    return { cluster: server.sees === "leader" ? { leader: "nats-1" } : {} };
  };
  const connection = {
    nc: {
      info: isCluster ? { cluster: "svc" } : {},
      getServer: () => "nats-1",
      reconnect: async () => void (moves += 1),
    },
    log: pino({ level: "silent" }),
    isConnected: () => server.connected,
    during: (request: Promise<unknown>) => request,
    pubSub: { publish: (_subject: string, fault: unknown) => void reports.push(fault) },
  } as unknown as Connection;
  const search = searchLeader(connection, { streams: { info } } as unknown as JetStreamManager, names);
  const pass = (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1_000);
  return { server, pass, reports, moves: () => moves, stop: search.stop };
}

test.each([
  ["names no leader", "nobody"],
  ["does not answer", "silence"],
] as const)(
  "a connection leaves a server of a cluster that %s after six seconds, and the next one after eleven more",
  async (_title, sees) => {
    const { server, pass, moves, stop } = openServer();
    await pass(60);
    server.sees = sees;
    await pass(5);
    expect(moves()).toBe(0);
    await pass(1);
    expect(moves()).toBe(1);
    await pass(10);
    expect(moves()).toBe(1);
    await pass(1);
    expect(moves()).toBe(2);
    stop();
  },
);

test("an election in time and time without a connection cause no move", async () => {
  const { server, pass, moves, stop } = openServer();
  for (let n = 0; n < 3; n++) {
    server.sees = "nobody";
    await pass(4);
    server.sees = "leader";
    await pass(1);
    server.connected = false;
    await pass(30);
    server.connected = true;
  }
  expect(moves()).toBe(0);
  stop();
});

test("a move is reported when the new server reaches a leader", async () => {
  const { server, pass, reports, stop } = openServer();
  server.sees = "nobody";
  await pass(10);
  expect(reports).toEqual([]);
  server.sees = "leader";
  await pass(5);
  expect(reports).toEqual(["bus_server_cut_off"]);
  stop();
});

test("a connection to a server outside a cluster is not moved, even if its stream names no leader", async () => {
  const { server, pass, moves, stop } = openServer({ isCluster: false });
  server.sees = "nobody";
  await pass(120);
  expect(moves()).toBe(0);
  stop();
});
