import { CANARY, PERSONAL } from "../topology.ts";
import { onceOnly, perform, type Action } from "./session.ts";
import type { KnownKey } from "./known.ts";
import { CHAT } from "./wire.ts";

/** Signs in; the token serves what only a person may do. */
export async function login(action: Action): Promise<void> {
  const { session } = action;
  const done = await perform(action, {
    what: "login",
    asked: {},
    wanted: { method: "POST", path: "/api/auth/login", body: session.admin },
    read: ({ body }) => ({ token: body.token }),
  });
  session.token = done.got["token"] ?? session.token;
}

export async function useSession(action: Action, token: string): Promise<void> {
  await perform(action, {
    what: "session.use",
    asked: { token },
    wanted: { method: "GET", path: "/api/auth/me", token },
  });
}

export async function logout(action: Action, token: string): Promise<void> {
  action.session.token = undefined;
  action.session.endedTokens.push(token);
  await perform(action, {
    what: "logout",
    asked: { token },
    wanted: { method: "POST", path: "/api/auth/logout", token },
  });
}

/** Creates a key, in a project or in none. Returns its id if the answer arrived. */
export async function createKey(action: Action, token: string, project_id?: string): Promise<string | undefined> {
  const { id, session } = action;
  const name = `${id} ${PERSONAL}`;
  const done = await perform(action, {
    what: "key.create",
    keyed: true,
    asked: { project_id },
    wanted: { method: "POST", path: "/api/keys", token, headers: onceOnly(id), body: { name, project_id } },
    read: ({ body }) => ({ key_id: body.id, secret: body.key }),
  });
  const { key_id, secret } = done.got;
  if (key_id) session.keys.push({ id: key_id, secret, project_id });
  return key_id;
}

export async function useKey(action: Action, { id: key_id, secret }: KnownKey): Promise<void> {
  await perform(action, {
    what: "key.use",
    asked: { key_id },
    wanted: { method: "GET", path: `${CHAT}/files`, token: secret! },
  });
}

export async function changeKey(action: Action, { id: key_id }: KnownKey, token: string): Promise<void> {
  const enabled = action.random.chance(0.5);
  await perform(action, {
    what: "key.change",
    asked: { key_id, enabled },
    wanted: { method: "PATCH", path: `/api/keys/${key_id}`, token, body: { enabled } },
    read: ({ body }) => ({ enabled: body.enabled }),
  });
}

export async function deleteKey(action: Action, key: KnownKey, token: string): Promise<void> {
  const { id: key_id } = key;
  const { keys, endedKeys } = action.session;
  endedKeys.push(...keys.splice(keys.indexOf(key), 1));
  await perform(action, {
    what: "key.delete",
    asked: { key_id },
    wanted: { method: "DELETE", path: `/api/keys/${key_id}`, token },
  });
}

/** Rotates a key; the old secret is tried at once. */
export async function rotateKey(action: Action, key: KnownKey, token: string): Promise<void> {
  const made = await createKey(action, token, key.project_id);
  if (!made) return;
  await deleteKey({ ...action, id: `${action.id}-old` }, key, token);
  if (key.secret) await useKey({ ...action, id: `${action.id}-use` }, key);
}

export async function putProvider(action: Action, token: string): Promise<void> {
  const { session, random } = action;
  const name = `p-${session.client}-${random.int(1, 3)}`;
  const models = [`model-${action.id}`];
  const done = await perform(action, {
    what: "provider.put",
    asked: { name, models },
    wanted: {
      method: "PUT",
      path: `/api/providers/${name}`,
      token,
      body: { api_key: `${CANARY}-${action.id}`, base_url: session.providerUrl, models },
    },
    read: ({ body }) => ({ models: body.models }),
  });
  if (done.outcome === "done" && !session.providers.includes(name)) session.providers.push(name);
}

export async function readProvider(action: Action, name: string, token: string): Promise<void> {
  await perform(action, {
    what: "provider.read",
    asked: { name },
    wanted: { method: "GET", path: `/api/providers/${name}`, token },
    read: ({ body }) => ({ models: body.models }),
  });
}

export async function deleteProvider(action: Action, name: string, token: string): Promise<void> {
  const { providers } = action.session;
  providers.splice(providers.indexOf(name), 1);
  await perform(action, {
    what: "provider.delete",
    asked: { name },
    wanted: { method: "DELETE", path: `/api/providers/${name}`, token },
  });
}
