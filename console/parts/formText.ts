/** The text of a field; a form may hold files too. */
export function formText(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === "string" ? value : "";
}

/** The lines of a field without empty ones, each once. */
export const formLines = (form: FormData, name: string): string[] => [
  ...new Set(
    formText(form, name)
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean),
  ),
];
