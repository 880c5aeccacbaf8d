import { setTimeout as sleep } from "node:timers/promises";
import { clientOf } from "../http/service.ts";
import { startPlatform, testDeployment } from "../platform.ts";
import { startSearchProxy } from "./searchProxy.ts";

export interface Sent {
  content?: string | Buffer<ArrayBuffer>;
  name?: string;
  /** As a client declares it. */
  type?: string;
  fields?: [name: string, value: string][];
  headers?: Record<string, string>;
}

export const formOf = ({ content = "Words.", name = "note.md", type = "", fields = [] }: Sent) => {
  const form = new FormData();
  for (const [key, value] of fields) form.append(key, value);
  form.append("file", new File([content], name, { type }));
  return form;
};

const ENDED = ["ready", "failed"];
const PATIENCE_MS = 60_000;

/** What one credential can do with knowledge and extractions. */
export function readerOf(url: string, token: string) {
  const call = clientOf({ chat: `${url}/api/v1/knowledge` }, token);
  const until = async (path: string, ends: (body: any) => boolean) => {
    for (const start = performance.now(); ; await sleep(50)) {
      const { body } = await call("GET", path);
      if (ends(body)) return body;
      if (performance.now() - start > PATIENCE_MS) throw new Error(`${path} stays ${JSON.stringify(body)}`);
    }
  };
  const upload = (collection: string, sent: Sent = {}) =>
    call("POST", `/collections/${collection}/documents`, formOf(sent), sent.headers);
  const push = (collection: string, body: object, headers?: Record<string, string>) =>
    call("POST", `/collections/${collection}/documents/text`, body, headers);
  const ended = (id: string) => until(`/documents/${id}`, ({ status }) => ENDED.includes(status));
  const extract = (sent: Sent = {}) => call("POST", `${url}/api/v1/extractions`, formOf(sent), sent.headers);
  return {
    call,
    until,
    /** Makes a collection; its slug. */
    collect: async (name: string): Promise<string> => (await call("POST", "/collections", { name })).body.slug,
    upload,
    push,
    /** The document once it is ready or failed. */
    ended,
    /** Uploads, and waits until it is ready or failed. */
    keep: async (collection: string, sent: Sent) => ended((await upload(collection, sent)).body.id),
    search: (body: object) => call("POST", "/search", body),
    extract,
    extracted: (id: string) => until(`${url}/api/v1/extractions/${id}`, ({ status }) => ENDED.includes(status)),
  };
}
export type Reader = ReturnType<typeof readerOf>;

/** The whole platform with one organization that keeps documents; `index` is the way to Meilisearch, which can be closed. */
export async function openLibrary(env: Record<string, string> = {}) {
  const { addresses, ...rest } = await testDeployment();
  const index = await startSearchProxy(addresses.meili_url);
  const platform = await startPlatform({
    deployment: { ...rest, addresses: { ...addresses, meili_url: index.url } },
    env,
  });
  const credentials = await platform.organization("Readers");
  const signIn = async ({ admin }: { admin: object } = credentials): Promise<string> => {
    const login = await clientOf({ chat: platform.url }, "")("POST", "/api/auth/login", admin);
    return login.body.token;
  };
  return {
    ...readerOf(platform.url, credentials.api_key),
    platform,
    credentials,
    index,
    signIn,
    as: (token: string) => readerOf(platform.url, token),
    extractions: `${platform.url}/api/v1/extractions`,
  };
}
export type Library = Awaited<ReturnType<typeof openLibrary>>;
