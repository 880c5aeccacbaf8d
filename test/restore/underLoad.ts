import { createHash, randomBytes, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { fileForm } from "../http/service.ts";

/** A file whose upload was acknowledged. */
export interface UploadedFile {
  id: string;
  sha256: string;
}

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
const PAUSE_MS = 50;

/** Uploads one file after the other. */
export function startUploads(url: string, api_key: string) {
  const uploaded: UploadedFile[] = [];
  let isGoing = true;
  const all = (async () => {
    while (isGoing) {
      const bytes = new Uint8Array(randomBytes(20_000));
      const response = await fetch(`${url}/api/openai/v1/files`, {
        method: "POST",
        headers: { authorization: `Bearer ${api_key}`, "idempotency-key": randomUUID() },
        body: fileForm(bytes, "a.bin", { type: "application/octet-stream", fields: { purpose: "user_data" } }),
      });
      const body = (await response.json()) as { id: string };
      expect(response.status, JSON.stringify(body)).toBe(201);
      uploaded.push({ id: body.id, sha256: sha256(bytes) });
      await sleep(PAUSE_MS);
    }
  })();
  all.catch(() => (isGoing = false));
  return {
    uploaded,
    async stop(): Promise<void> {
      isGoing = false;
      await all;
    },
  };
}

/** A file that a service has, as its hash. */
export async function readFileHash(url: string, api_key: string, id: string): Promise<string> {
  const response = await fetch(`${url}/api/openai/v1/files/${id}/content`, {
    headers: { authorization: `Bearer ${api_key}` },
  });
  expect(response.status).toBe(200);
  return sha256(new Uint8Array(await response.arrayBuffer()));
}
