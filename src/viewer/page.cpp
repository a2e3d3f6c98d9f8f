#include "viewer/page.h"

#include <fmt/format.h>

#include <string_view>

#include "viewer/alignment.h"
#include "viewer/groups.h"
#include "viewer/page_data.h"
#include "viewer/page_source.h"

namespace sardonyx::viewer {
namespace {

std::string replaced(std::string_view text, char what, std::string_view by) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) c == what ? result += by : result += c;
  return result;
}

std::string escaped(std::string_view text) {
  return replaced(replaced(text, '&', "&amp;"), '<', "&lt;");
}

std::string page(const std::string& title, std::string_view data) {
  // No text of the model can end the script that holds it, and no page may load anything.
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:\">\n"
      "<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n{}"
      "<script type=\"application/json\" id=\"model\">{}</script>\n"
      "<script type=\"module\">\n{}</script>\n</body>\n</html>\n",
      escaped(title), kPageStyle, kPageBody, replaced(data, '<', "\\u003c"), kPageScript);
}

}  // namespace

std::string model_page(const Shown& shown, std::span<const Measure> measures) {
  const Groups groups = groups_of(shown.model);
  Texts texts;
  const std::string model = model_json(shown.model, groups, shown.title, texts);
  return page(shown.title,
              fmt::format(R"({{"models":[{}],"measures":{},"costs":[{}],"texts":{}}})", model,
                          measures_json(groups, nullptr, measures), shown.cost, texts.json()));
}

std::string comparison_page(const Shown& a, const Shown& b, std::span<const Measure> measures) {
  const Groups of_a = groups_of(a.model), of_b = groups_of(b.model);
  Texts texts;
  const std::string first = model_json(a.model, of_a, a.title, texts);
  const std::string second = model_json(b.model, of_b, b.title, texts);
  return page(
      a.title + " and " + b.title,
      fmt::format(
          R"({{"models":[{},{}],"measures":{},"costs":[{}{}{}],"alignment":{},"texts":{}}})", first,
          second, measures_json(of_a, &of_b, measures), a.cost, b.cost.empty() ? "" : ",", b.cost,
          alignment_json(aligned(of_a, of_b)), texts.json()));
}

}  // namespace sardonyx::viewer
