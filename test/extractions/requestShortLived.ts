import { createHash } from "node:crypto";
import { expect } from "vitest";
import { RequestExtraction } from "#events/extraction.ts";
import { blobFolder, newCommandId, newId, streamName } from "#events/ids.ts";
import { MEDIA_TYPES } from "#events/mediaTypes.ts";
import type { startPlatform } from "../platform.ts";

interface Owner {
  opened: Awaited<ReturnType<typeof startPlatform>>["resources"];
  organization_id: string;
}

/** Requests an extraction of `text` as http does, but one that expires after `ms`. */
export async function requestShortLived(
  { opened: { bus, log, keyring, vault }, organization_id }: Owner,
  ms: number,
  text: string,
  type: "md" | "csv" = "md",
) {
  const id = newId();
  const stream = streamName("extraction", id);
  const wrapped_key = vault.createKey(stream);
  const owner = { thing: stream, wrapped_key, folder: blobFolder(organization_id, stream) };
  const sha256 = createHash("sha256").update(text).digest("hex");
  const expires_at = new Date(Date.now() + ms);
  const answer = await bus.sender(log).send({
    id: newCommandId(),
    type: RequestExtraction.type,
    stream,
    organization_id,
    principal: "system",
    at: new Date().toISOString(),
    deadline: new Date(Date.now() + 30_000).toISOString(),
    request_id: "test",
    keys: { [stream]: wrapped_key },
    data: {
      extraction_id: id,
      mime_type: MEDIA_TYPES[type],
      size_bytes: Buffer.byteLength(text),
      blob: await vault.put(owner, Buffer.from(text)),
      content_claim: keyring.keyedHash("extraction", [organization_id, sha256].join("\n")),
      expires_at: expires_at.toISOString(),
      name: `moment.${type}`,
      sha256,
    },
  });
  expect(answer.rejection).toBeUndefined();
  return { id, folder: owner.folder, expires_at };
}
