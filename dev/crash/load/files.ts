import { randomBytes } from "node:crypto";
import { FormData } from "undici";
import { PERSONAL } from "../topology.ts";
import { sha256, userQuery } from "./chat.ts";
import { onceOnly, perform, type Action } from "./session.ts";
import { CHAT } from "./wire.ts";

export async function upload(action: Action, size: number): Promise<void> {
  const { id, session } = action;
  const bytes = randomBytes(size);
  const form = () => {
    const filled = new FormData();
    filled.set("file", new File([bytes], `${PERSONAL}-${id}.bin`, { type: "application/octet-stream" }));
    filled.set("purpose", "user_data");
    filled.set("user", session.user);
    return filled;
  };
  const done = await perform(action, {
    what: "file.upload",
    keyed: true,
    asked: { sha256: sha256(bytes), bytes: size, filename: `${id}.bin` },
    wanted: { method: "POST", path: `${CHAT}/files`, token: session.api_key, headers: onceOnly(id), form },
    read: ({ body }) => ({ file_id: body.id, bytes: body.bytes }),
  });
  if (done.got["file_id"]) session.files.push(done.got["file_id"]);
}

export async function readFile(action: Action, file_id: string): Promise<void> {
  const { api_key, user } = action.session;
  await perform(action, {
    what: "file.read",
    asked: { file_id },
    wanted: { method: "GET", path: `${CHAT}/files/${file_id}/content${userQuery(user)}`, token: api_key },
    read: ({ bytes }) => ({ sha256: sha256(bytes) }),
  });
}

export async function listFiles(action: Action): Promise<void> {
  const { api_key, user } = action.session;
  await perform(action, {
    what: "file.list",
    asked: { user },
    wanted: { method: "GET", path: `${CHAT}/files${userQuery(user)}`, token: api_key },
    read: ({ body }) => ({ files: body.data.map((file: { id: string }) => file.id) }),
  });
}

export async function deleteFile(action: Action, file_id: string): Promise<void> {
  const { api_key, user, files } = action.session;
  files.splice(files.indexOf(file_id), 1);
  await perform(action, {
    what: "file.delete",
    asked: { file_id },
    wanted: { method: "DELETE", path: `${CHAT}/files/${file_id}${userQuery(user)}`, token: api_key },
  });
}
