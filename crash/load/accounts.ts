import { CANARY } from "../topology.ts";
import { CHAT, onceOnly, perform, type Doing, type Session } from "./session.ts";

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
  await perform(doing, {
    what: "logout",
    asked: { token },
    wanted: { method: "POST", path: "/api/auth/logout", token },
  });
}

export async function createKey(doing: Doing, token: string): Promise<void> {
  const { id, session } = doing;
  const done = await perform(doing, {
    what: "key.create",
    keyed: true,
    asked: { name: id },
    wanted: { method: "POST", path: "/api/keys", token, headers: onceOnly(id), body: { name: id } },
    read: ({ body }) => ({ key_id: body.id, secret: body.key }),
  });
  const { key_id, secret } = done.got;
  if (key_id) session.keys.push({ id: key_id, secret });
}

type Key = Session["keys"][number];

export async function useKey(doing: Doing, { id: key_id, secret }: Key): Promise<void> {
  await perform(doing, {
    what: "key.use",
    asked: { key_id },
    wanted: { method: "GET", path: `${CHAT}/files`, token: secret! },
  });
}

export async function changeKey(doing: Doing, { id: key_id }: Key, token: string): Promise<void> {
  const enabled = doing.random.chance(0.5);
  await perform(doing, {
    what: "key.change",
    asked: { key_id, enabled },
    wanted: { method: "PATCH", path: `/api/keys/${key_id}`, token, body: { enabled } },
    read: ({ body }) => ({ enabled: body.enabled }),
  });
}

export async function deleteKey(doing: Doing, { id: key_id }: Key, token: string): Promise<void> {
  const { keys } = doing.session;
  keys.splice(
    keys.findIndex((key) => key.id === key_id),
    1,
  );
  await perform(doing, {
    what: "key.delete",
    asked: { key_id },
    wanted: { method: "DELETE", path: `/api/keys/${key_id}`, token },
  });
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
