/*
 * Says in a sentence that a part of the page can't be loaded, where the page would stay blank, or a
 * click without effect. A script of its own, before all modules.
 */
(() => {
  const show = () => {
    const main = document.getElementById("main");
    if (!main) return document.addEventListener("DOMContentLoaded", show, { once: true });
    if (main.querySelector(".load-error")) return;
    const notice = document.createElement("p");
    notice.className = "notice bad load-error";
    notice.setAttribute("role", "alert");
    notice.textContent = "The service can't be reached. Is it running?";
    main.prepend(notice);
    addEventListener("click", () => notice.remove(), { capture: true, once: true });
  };
  const isOfModule = (error) => /module|import/i.test(String(error?.message));
  addEventListener(
    "error",
    ({ target }) => /^(SCRIPT|LINK)$/.test(target?.tagName) && show(),
    true,
  );
  addEventListener("unreachable", show);
  addEventListener("unhandledrejection", ({ reason }) => isOfModule(reason) && show());
})();
