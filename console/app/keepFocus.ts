const ROW = "tr, li";
const TARGETS = ["[data-row]", "a[href], button:not(:disabled), summary"];

/** What takes the focus in a row: the link that opens it, or the first thing that can. */
const targetIn = (row: Element | null): HTMLElement | undefined => {
  for (const selector of TARGETS) {
    const found = row?.querySelector<HTMLElement>(selector);
    if (found) return found;
  }
  return undefined;
};

/** The nearest heading around what is gone. A heading takes the focus only from here. */
function headingIn(ancestors: readonly Element[]): HTMLElement | undefined {
  for (const ancestor of ancestors) {
    if (!ancestor.isConnected) continue;
    // the last row leaves a note behind that says what to do next
    const heading = ancestor.querySelector<HTMLElement>(".empty h2") ?? ancestor.querySelector<HTMLElement>("h1, h2");
    if (!heading) continue;
    heading.tabIndex = -1;
    return heading;
  }
  return undefined;
}

function ancestorsOf(element: Element, root: Element): Element[] {
  const found: Element[] = [];
  for (let at = element.parentElement; at && at !== root; at = at.parentElement) found.push(at);
  return found;
}

/**
 * When the row of a list that has the focus is removed, the focus goes to the next row, or the one before, or the heading of the
 * list. A screen that is left is no such case. Returns what ends it.
 */
export function keepFocus(root: HTMLElement): () => void {
  let row: Element | undefined;
  let neighbours: (Element | null)[] = [];
  let ancestors: Element[] = [];
  const note = () => {
    const { activeElement } = document;
    const isInside = activeElement !== null && root.contains(activeElement);
    row = (isInside && activeElement.closest(ROW)) || undefined;
    ancestors = row ? ancestorsOf(row, root) : [];
    look();
  };
  const look = () => {
    if (row?.isConnected) neighbours = [row.nextElementSibling, row.previousElementSibling];
  };
  // somebody who clicks beside everything wants no focus
  const forget = () => {
    row = undefined;
  };
  const observer = new MutationObserver(() => {
    if (row?.isConnected !== false) return look();
    const isFree = document.activeElement === null || document.activeElement === document.body;
    const next = neighbours.find((other) => other?.isConnected) ?? null;
    const isSameScreen = ancestors.at(-1)?.isConnected === true;
    row = undefined;
    if (isFree && isSameScreen) (targetIn(next) ?? headingIn(ancestors))?.focus({ preventScroll: true });
    return undefined;
  });
  root.addEventListener("focusin", note);
  document.addEventListener("pointerdown", forget);
  observer.observe(root, { childList: true, subtree: true });
  return () => {
    root.removeEventListener("focusin", note);
    document.removeEventListener("pointerdown", forget);
    observer.disconnect();
  };
}
