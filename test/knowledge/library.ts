import { setTimeout as sleep } from "node:timers/promises";
import type { Credentials } from "../../cli/organization.ts";
import { clientOf, signIn } from "../http/service.ts";
import { openPlatform } from "../sharedPlatform.ts";

export interface UploadOptions {
  content?: string | Buffer<ArrayBuffer>;
  name?: string;
  /** The declared media type. */
  type?: string;
  fields?: [name: string, value: string][];
  headers?: Record<string, string>;
}

export const uploadForm = ({ content = "Words.", name = "note.md", type = "", fields = [] }: UploadOptions) => {
  const form = new FormData();
  for (const [key, value] of fields) form.append(key, value);
  form.append("file", new File([content], name, { type }));
  return form;
};

const ENDED = ["ready", "failed"];
const MAX_WAIT_MS = 60_000;

/** Helpers for the knowledge and extraction APIs with one credential. */
export function openReader(url: string, token: string) {
  const call = clientOf({ chat: `${url}/api/v1/knowledge` }, token);
  const until = async (path: string, ends: (body: any) => boolean) => {
    for (const start = performance.now(); ; await sleep(50)) {
      const { body } = await call("GET", path);
      if (ends(body)) return body;
      if (performance.now() - start > MAX_WAIT_MS) throw new Error(`${path} stays ${JSON.stringify(body)}`);
    }
  };
  const upload = (collection: string, sent: UploadOptions = {}) =>
    call("POST", `/collections/${collection}/documents`, uploadForm(sent), sent.headers);
  const push = (collection: string, body: object, headers?: Record<string, string>) =>
    call("POST", `/collections/${collection}/documents/text`, body, headers);
  const ended = (id: string) => until(`/documents/${id}`, ({ status }) => ENDED.includes(status));
  const extract = (sent: UploadOptions = {}) =>
    call("POST", `${url}/api/v1/extractions`, uploadForm(sent), sent.headers);
  return {
    call,
    until,
    /** Creates a collection and returns its slug. */
    collect: async (name: string): Promise<string> => (await call("POST", "/collections", { name })).body.slug,
    upload,
    push,
    /** Pushes a text and waits until it is ready or failed; the id of the document. */
    pushed: async (collection: string, body: object): Promise<string> =>
      (await ended((await push(collection, body)).body.id)).id,
    /** Waits until the document is ready or failed. */
    ended,
    /** Uploads a document and waits until it is ready or failed. */
    keep: async (collection: string, sent: UploadOptions) => ended((await upload(collection, sent)).body.id),
    search: (body: object) => call("POST", "/search", body),
    extract,
    extracted: (id: string) => until(`${url}/api/v1/extractions/${id}`, ({ status }) => ENDED.includes(status)),
  };
}
export type Reader = ReturnType<typeof openReader>;

/** The whole platform with one organization; files without settings of their own share it. `index` is a proxy to Meilisearch that can be closed. */
export async function openLibrary(env?: Record<string, string>) {
  const { platform, index, provider } = await openPlatform(env);
  const credentials = await platform.organization("Readers");
  return {
    ...openReader(platform.url, credentials.api_key),
    platform,
    credentials,
    index,
    provider,
    signIn: async ({ admin }: Pick<Credentials, "admin"> = credentials) => (await signIn(platform.url, admin)).token,
    as: (token: string) => openReader(platform.url, token),
    extractions: `${platform.url}/api/v1/extractions`,
  };
}
export type Library = Awaited<ReturnType<typeof openLibrary>>;
