import { UnreadableFile, type Warn } from "../reader.ts";
import { ignoreWarnings } from "../warnings.ts";
import { openOutlookFile } from "./outlookFile.ts";
import { isReadKind, readOutlookItem } from "./outlookMessage.ts";

/**
 * Reads an e-mail or an appointment that Outlook saved (.msg): its fields, the names of its attachments, its text, and the messages attached
 * to it. Throws UnreadableFile: damaged, or a contact or task.
 */
export const readMsg = async (bytes: Uint8Array, warn: Warn = ignoreWarnings): Promise<string[]> => {
  const item = openOutlookFile(bytes);
  if (!isReadKind(item))
    throw new UnreadableFile(
      "The file is a contact or a task of Outlook. Only its e-mails and appointments are read; save this one as text.",
    );
  return [(await readOutlookItem(item, warn)).join("\n\n")];
};
