import type { Action } from "./action.ts";
import { FocusableButton } from "./FocusableButton.tsx";

interface Props {
  label: string;
  /** For screen readers: the object of the action, if a list repeats the same label. */
  about?: string;
  isSmall?: boolean;
  /** The confirmation question; without it the action runs at once. */
  question?: string | undefined;
  isDangerous?: boolean;
  action: Action;
}

/** A button that changes data. Its screen shows the reason of a failure. */
export function ActionButton({ label, about, isSmall = false, question, isDangerous = false, action }: Props) {
  const run = () => {
    if (!question || window.confirm(question)) action.mutate();
  };
  return (
    <FocusableButton
      type="button"
      className={["button", isSmall && "small", isDangerous && "danger"].filter(Boolean).join(" ")}
      isOff={action.isPending}
      onClick={run}
    >
      {label}
      {about && <span className="hidden-text"> {about}</span>}
    </FocusableButton>
  );
}
