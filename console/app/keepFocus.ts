const ROW = "tr, li";
const TARGETS = ["[data-row]", "a[href], button:not(:disabled), summary"];
const FIELDS = "input:not([type=hidden]), select, textarea, button";
const FOCUSABLE = `${FIELDS}, a[href], summary`;

/** The element of a row that takes the focus: the link that opens the row, or the first focusable element. */
const targetIn = (row: Element | null): HTMLElement | undefined => {
  for (const selector of TARGETS) {
    const found = row?.querySelector<HTMLElement>(selector);
    if (found) return found;
  }
  return undefined;
};

/** The nearest heading around the removed element. A heading takes the focus only from here. */
function headingIn(ancestors: readonly Element[]): HTMLElement | undefined {
  for (const ancestor of ancestors) {
    if (!ancestor.isConnected) continue;
    // after the last row a note remains that names the next step
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

/** The focused element, or the row or form around it. */
interface Place {
  element: Element;
  ancestors: Element[];
  next: Element | null;
  previous: Element | null;
}

function placeAround(at: Element, selector: string, root: Element): Place | undefined {
  const element = at.closest(selector);
  if (!element || !root.contains(element)) return undefined;
  return { element, ancestors: ancestorsOf(element, root), next: null, previous: null };
}

/** Stores the neighbours of an element while it is still on the page. */
function look(place: Place | undefined): void {
  if (!place?.element.isConnected) return;
  place.next = place.element.nextElementSibling;
  place.previous = place.element.previousElementSibling;
}

/** The next row, the previous one, or the heading of the list. */
const afterRow = ({ next, previous, ancestors }: Place): HTMLElement | undefined =>
  targetIn([next, previous].find((row) => row?.isConnected) ?? null) ?? headingIn(ancestors);

/**
 * After a form was sent: the first field of the empty form in its place, or the result there, such as a one-time secret or a decision.
 * Otherwise the heading above it.
 */
function afterForm({ previous, ancestors }: Place): HTMLElement | undefined {
  const successor = previous?.isConnected ? previous.nextElementSibling : ancestors[0]?.firstElementChild;
  if (successor?.matches("form")) return successor.querySelector<HTMLElement>(FIELDS) ?? undefined;
  if (!(successor instanceof HTMLElement) || !successor.matches("[role=status]")) return headingIn(ancestors);
  const result = successor.querySelector<HTMLElement>("h2") ?? successor;
  result.tabIndex = -1;
  return result;
}

/** The element beside or after a button that was removed alone, else the heading around it. */
function afterElement({ ancestors }: Place): HTMLElement | undefined {
  const [home] = ancestors;
  if (!home?.isConnected) return headingIn(ancestors);
  const isNext = (element: Element) =>
    home.contains(element) || (home.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
  const all = [...(ancestors.at(-1)?.querySelectorAll<HTMLElement>(FOCUSABLE) ?? [])];
  return all.find((element) => isNext(element) && element.checkVisibility()) ?? headingIn(ancestors);
}

/** The form of the next screen, if the person continues there: the first question of a new conversation changes its address. */
function inNextScreen({ element }: Place, root: Element): HTMLElement | undefined {
  const name = element instanceof HTMLElement ? element.dataset["goesOn"] : undefined;
  return root.querySelector<HTMLElement>(`form[data-goes-on="${name}"] textarea`) ?? undefined;
}

/**
 * Moves the focus to the nearest element when the focused element is removed, alone or with its row or form. Leaving a screen does
 * not count, unless the next screen has the same form. Returns the function that ends it.
 */
export function keepFocus(root: HTMLElement): () => void {
  let row: Place | undefined;
  let form: Place | undefined;
  let element: Place | undefined;
  const note = ({ target }: FocusEvent) => {
    row = placeAround(target as Element, ROW, root);
    form = placeAround(target as Element, "form", root);
    element = placeAround(target as Element, "*", root);
    look(row);
    look(form);
  };
  // a click beside everything removes the focus on purpose
  const forget = () => {
    row = undefined;
    form = undefined;
    element = undefined;
  };
  const isGone = (place: Place | undefined): place is Place => place?.element.isConnected === false;
  const moveFocusFrom = (place: Place, find: (place: Place) => HTMLElement | undefined) => {
    // an opened screen has the focus as a whole
    const isFree = [null, document.body, root].includes(document.activeElement as HTMLElement | null);
    const isSameScreen = place.ancestors.at(-1)?.isConnected === true;
    forget();
    if (isFree) (isSameScreen ? find(place) : inNextScreen(place, root))?.focus({ preventScroll: true });
  };
  const observer = new MutationObserver(() => {
    if (isGone(row)) return moveFocusFrom(row, afterRow);
    if (isGone(form)) return moveFocusFrom(form, afterForm);
    if (isGone(element)) return moveFocusFrom(element, afterElement);
    look(row);
    return look(form);
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
