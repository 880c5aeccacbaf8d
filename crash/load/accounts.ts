import { CANARY, PERSONAL } from "../topology.ts";
import { CHAT, onceOnly, perform, type Doing, type KnownKey } from "./session.ts";

/** Signs in; the token is for what only a person may do. */
export async function login(doing: Doing): Promise<void> {
  const { session } = doing;
  const done = await perform(doing, {
    what: "login",
    asked: {},
    wanted: { method: "POST", path: "/api/auth/login", body: session.admin },
    read: ({ body }) => ({ token: body.token }),
  });
  session.token = done.got["token"] ?? session.token;
}

export async function useSession(doing: Doing, token: string): Promise<void> {
  await perform(doing, {
    what: "session.use",
    asked: { token },
    wanted: { method: "GET", path: "/api/auth/me", token },
  });
}

export async function logout(doing: Doing, token: string): Promise<void> {
  doing.session.token = undefined;
  doing.session.endedTokens.push(token);
  await perform(doing, {
    what: "logout",
    asked: { token },
    wanted: { method: "POST", path: "/api/auth/logout", token },
  });
}

/** Makes a key of a project, or of none; its id, where the answer came. */
export async function createKey(doing: Doing, token: string, project_id?: string): Promise<string | undefined> {
  const { id, session } = doing;
  const name = `${id} ${PERSONAL}`;
  const done = await perform(doing, {
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

export async function useKey(doing: Doing, { id: key_id, secret }: KnownKey): Promise<void> {
  await perform(doing, {
    what: "key.use",
    asked: { key_id },
    wanted: { method: "GET", path: `${CHAT}/files`, token: secret! },
  });
}

export async function changeKey(doing: Doing, { id: key_id }: KnownKey, token: string): Promise<void> {
  const enabled = doing.random.chance(0.5);
  await perform(doing, {
    what: "key.change",
    asked: { key_id, enabled },
    wanted: { method: "PATCH", path: `/api/keys/${key_id}`, token, body: { enabled } },
    read: ({ body }) => ({ enabled: body.enabled }),
  });
}

export async function deleteKey(doing: Doing, key: KnownKey, token: string): Promise<void> {
  const { id: key_id } = key;
  const { keys, endedKeys } = doing.session;
  endedKeys.push(...keys.splice(keys.indexOf(key), 1));
  await perform(doing, {
    what: "key.delete",
    asked: { key_id },
    wanted: { method: "DELETE", path: `/api/keys/${key_id}`, token },
  });
}

/** Another key takes the place of one, which ends, and is tried at once. */
export async function rotateKey(doing: Doing, key: KnownKey, token: string): Promise<void> {
  const made = await createKey(doing, token, key.project_id);
  if (!made) return;
  await deleteKey({ ...doing, id: `${doing.id}-old` }, key, token);
  if (key.secret) await useKey({ ...doing, id: `${doing.id}-use` }, key);
}

export async function putProvider(doing: Doing, token: string): Promise<void> {
  const { session, random } = doing;
  const name = `p-${session.client}-${random.int(1, 3)}`;
  const models = [`model-${doing.id}`];
  const done = await perform(doing, {
    what: "provider.put",
    asked: { name, models },
    wanted: {
      method: "PUT",
      path: `/api/providers/${name}`,
      token,
      body: { api_key: `${CANARY}-${doing.id}`, base_url: session.providerUrl, models },
    },
    read: ({ body }) => ({ models: body.models }),
  });
  if (done.outcome === "done" && !session.providers.includes(name)) session.providers.push(name);
}

export async function readProvider(doing: Doing, name: string, token: string): Promise<void> {
  await perform(doing, {
    what: "provider.read",
    asked: { name },
    wanted: { method: "GET", path: `/api/providers/${name}`, token },
    read: ({ body }) => ({ models: body.models }),
  });
}

export async function deleteProvider(doing: Doing, name: string, token: string): Promise<void> {
  const { providers } = doing.session;
  providers.splice(providers.indexOf(name), 1);
  await perform(doing, {
    what: "provider.delete",
    asked: { name },
    wanted: { method: "DELETE", path: `/api/providers/${name}`, token },
  });
}
