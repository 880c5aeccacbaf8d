import { UnreadableFile } from "../reader.ts";
import { openZip, type Zip } from "./zip.ts";

/** Opens the archive of an OpenDocument file. Throws UnreadableFile, also if its parts are encrypted. */
export const openDocument = (bytes: Uint8Array): Zip => {
  const zip = openZip(bytes);
  if (zip.text("META-INF/manifest.xml")?.includes("encryption-data")) {
    throw new UnreadableFile("The file is protected by a password.");
  }
  return zip;
};
