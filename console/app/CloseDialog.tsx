/** Closes the dialog around it. */
export const CloseDialog = () => (
  <form method="dialog">
    <button type="submit" className="button">
      Close
    </button>
  </form>
);
