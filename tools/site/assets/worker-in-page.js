/* The search of the site is a worker, and browsers start no worker for a page that was opened from a file. There, and
   only there, this script runs the worker's script in a hidden frame of the page instead. */
if (location.protocol === "file:") {
  // As between a page and its worker: a copy arrives, and not before the sender has ended.
  const later = (data, tell) => {
    const copy = structuredClone(data);
    setTimeout(() => tell(copy));
  };

  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.onmessage = null;
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.documentElement.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) =>
        later(data, (copy) => {
          const message = new MessageEvent("message", { data: copy });
          this.dispatchEvent(message);
          this.onmessage?.(message);
        });
      const script = inside.document.createElement("script");
      script.addEventListener("load", () => {
        for (const data of this.waiting) this.tell(data);
        this.waiting = null;
      });
      script.src = address;
      inside.document.documentElement.append(script);
    }

    tell(data) {
      later(data, (copy) => {
        const inside = this.frame.contentWindow; // none once the worker was terminated
        inside?.dispatchEvent(new inside.MessageEvent("message", { data: copy }));
      });
    }

    postMessage(data) {
      if (this.waiting) this.waiting.push(data);
      else this.tell(data);
    }

    terminate() {
      this.frame.remove();
    }
  };
}
