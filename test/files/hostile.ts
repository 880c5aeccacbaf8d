/** A hostile file and the allowed results of reading it. */
export interface Hostile {
  title: string;
  name: string;
  content: Buffer<ArrayBuffer> | string;
  ends: ("ready" | "failed")[];
}

export const failed: Hostile["ends"] = ["failed"];
export const either: Hostile["ends"] = ["ready", "failed"];

export const hostile = (title: string, name: string, ends: Hostile["ends"], content: Hostile["content"]): Hostile => ({
  title,
  name,
  ends,
  content,
});
