#include "nes/compiled_program.hpp"

#include <algorithm>
#include <utility>

#include "nes/x64_translator.hpp"

namespace warpzone::nes {

#if defined(__x86_64__) && defined(__GNUC__) && (defined(__unix__) || defined(__APPLE__))

std::unique_ptr<const CompiledProgram> CompiledProgram::compile(const DecodedProgram& code,
                                                                const std::uint8_t* program) {
  const x64::Translation translation = x64::translate(code);
  ExecutableMemory memory(translation.code);
  if (memory.empty()) return nullptr;
  auto tables = std::make_unique<Tables>();
  std::copy_n(program, tables->program.size(), tables->program.begin());
  for (std::size_t at = 0; at < tables->runs.size(); ++at) {
    tables->runs[at] = code[at].run;
    tables->bodies[at] = memory.begin() + translation.bodies[at];
  }
  return std::unique_ptr<const CompiledProgram>(
      new CompiledProgram(std::move(memory), std::move(tables)));
}

#else

std::unique_ptr<const CompiledProgram> CompiledProgram::compile(const DecodedProgram&,
                                                                const std::uint8_t*) {
  return nullptr;
}

#endif

CompiledExit CompiledProgram::run(CompiledContext& context) const {
  context.tables = tables_.get();
  return reinterpret_cast<Enter>(reinterpret_cast<std::uintptr_t>(memory_.begin()))(&context);
}

}  // namespace warpzone::nes
