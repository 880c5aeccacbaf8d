import type { ComponentProps } from "react";

interface Props extends Omit<ComponentProps<"button">, "disabled"> {
  type: "button" | "submit";
  /** Clicks, and Enter in a field of its form, do nothing: what it started is under way, or there is nothing more to do. */
  isOff: boolean;
}

/** A button that keeps the focus while it is off: `disabled` would take the focus away for good. */
export const FocusableButton = ({ isOff, onClick, ...rest }: Props) => (
  <button
    {...rest}
    aria-disabled={isOff || undefined}
    onClick={(event) => {
      if (isOff) event.preventDefault();
      else onClick?.(event);
    }}
  />
);
