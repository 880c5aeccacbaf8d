import { createRecognizer } from "./createRecognizer.ts";

type OpenRecognizer = ReturnType<typeof createRecognizer>;

let last: { languages: string; recognizer: OpenRecognizer } | undefined;

/** The recognizer of the last file, or one for other languages, which takes its place: two of them would need twice the memory. */
export async function recognizerFor(languages: readonly string[]): Promise<OpenRecognizer> {
  const wanted = languages.join("+");
  if (last?.languages === wanted) return last.recognizer;
  await last?.recognizer.close();
  last = { languages: wanted, recognizer: createRecognizer({ languages }) };
  return last.recognizer;
}
