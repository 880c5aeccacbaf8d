import { Agent, fetch as undiciFetch, type RequestInit } from "undici";
import type { Credential } from "#services/turns/model.ts";
import { guardedFetch } from "../web/guardedFetch.ts";

/** Connections per provider address; a turn holds one while it runs. HTTP/2 would put a hundred turns on one. */
const CONNECTIONS = 512;
/** Idle connections are kept for the next turn a little less long than servers keep them (Node: 5 s, most: 60 s). */
const KEEP_ALIVE_MS = 4_000;

/** How long an answer takes is the caller's business: the only limits are the signal's. */
const openFetch = (): typeof fetch => {
  const dispatcher = new Agent({
    connections: CONNECTIONS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: 0,
    bodyTimeout: 0,
    allowH2: false,
  });
  return ((url: string, init?: RequestInit) => undiciFetch(url, { ...init, dispatcher })) as unknown as typeof fetch;
};

/** The fetch for a credential: guarded where a tenant named the address. Connections are shared by all that use it. */
export function openTransport({ privateHosts }: { privateHosts: string[] }): (credential: Credential) => typeof fetch {
  const guarded = guardedFetch({ privateHosts });
  const plain = openFetch();
  return (credential) => (credential.guarded ? guarded : plain);
}
