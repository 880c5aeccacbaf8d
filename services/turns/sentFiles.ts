import { ModelError } from "./model.ts";

/**
 * Bytes of attachments in a request to a provider: in base64, none takes more. Writing such a request takes several times as much
 * memory, so a larger one is refused as the provider would refuse it.
 */
const MAX_SENT_FILE_BYTES = 100_000_000;

/** Throws a ModelError where attachments are more than a provider is sent. */
export function limitSentFiles(bytes: number): void {
  if (bytes <= MAX_SENT_FILE_BYTES) return;
  const [sent, limit] = [Math.ceil(bytes / 1_000_000), MAX_SENT_FILE_BYTES / 1_000_000];
  throw new ModelError("refused", `The attachments have ${sent} MB together; a provider is sent ${limit} MB at most.`);
}
