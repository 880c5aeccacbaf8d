import { queryOptions } from "@tanstack/react-query";
import { call, itemPath, pageQuery, queryAll, queryOne } from "./call.ts";
import { byId } from "./readAll.ts";
import type { Page } from "./types.ts";

/* API keys of the organization, for administrators. */

export const PRODUCTS = ["knowledge", "extraction"] as const;
export type Product = (typeof PRODUCTS)[number];

export interface KeySettings {
  name: string;
  products: Product[];
  enabled: boolean;
  expires_at: string | null;
  /** Null means all models. */
  allowed_models: string[] | null;
  /** Whether completions may pass client tools. */
  client_tools: boolean;
}

export interface Key extends KeySettings {
  id: string;
  /** The last four characters. */
  key_hint: string;
  project_id: string | null;
  last_used_at: string | null;
  created_at: string;
  updated_at: string;
}

/** A key with its secret, which no later answer returns. */
export type KeyWithSecret = Key & { key?: string };

export const KEY_STATES = ["active", "disabled", "expired"] as const;
export type KeyState = (typeof KEY_STATES)[number];

/** `now`: epoch milliseconds. */
export const stateOf = ({ enabled, expires_at }: Key, now: number): KeyState =>
  enabled ? (expires_at && Date.parse(expires_at) <= now ? "expired" : "active") : "disabled";

export const KEYS_PER_PAGE = 500;

/** One page, newest first; `page` counts from 0. */
export const listKeys = (page = 0) =>
  queryOptions({
    queryKey: ["key", "list", page],
    queryFn: queryOne<Page<Key>>("keys", pageQuery(page, KEYS_PER_PAGE)),
    placeholderData: (previous) => previous,
  });

export const listAllKeys = queryOptions({
  queryKey: ["key", "list", "all"],
  queryFn: queryAll<Key>("keys", byId),
});

const pathOf = (id: string) => itemPath("keys", id);

export const getKey = (id: string) =>
  queryOptions({ queryKey: ["key", "one", id], queryFn: queryOne<Key>(pathOf(id)) });

export const createKey = (body: KeySettings & { project_id: string | null }) =>
  call<KeyWithSecret>("keys", { method: "POST", body });

export const changeKey = (id: string, body: Partial<KeySettings>) => call<Key>(pathOf(id), { method: "PATCH", body });

/** Rotates the secret of the key. The old secret stops working at once. */
export const rotateKey = (id: string) => call<KeyWithSecret>(`${pathOf(id)}/rotate`, { method: "POST" });

export const deleteKey = (id: string) => call<void>(pathOf(id), { method: "DELETE" });
