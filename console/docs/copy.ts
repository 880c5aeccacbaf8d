const SHOWN_MS = 2000;

/** Adds a copy button to each block of code, if the browser allows access to the clipboard. */
export function addCopyButtons(): void {
  // absent on plain http except on this machine
  const clipboard = navigator.clipboard as Clipboard | undefined;
  if (!clipboard) return;
  for (const block of document.querySelectorAll(".code")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", () => {
      const text = block.querySelector("code")?.textContent ?? "";
      const showResult = (word: string) => {
        button.textContent = word;
        setTimeout(() => (button.textContent = "Copy"), SHOWN_MS);
      };
      clipboard.writeText(text).then(
        () => showResult("Copied"),
        () => showResult("Not allowed"),
      );
    });
    block.append(button);
  }
}
